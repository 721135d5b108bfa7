import 'reflect-metadata';
import type { TestProject } from 'vitest/node';
import { createTemplate } from './database.js';

/** Migrates once for all test files: a copy takes half the time. @returns what runs after the last one */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [template, drop] = await createTemplate();
  project.provide('template', template);
  return drop;
}

import 'reflect-metadata';
import { afterAll } from 'vitest';
import { endLeftOvers } from './processes.js';

afterAll(endLeftOvers);

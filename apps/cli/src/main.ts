#!/usr/bin/env node
import 'reflect-metadata';
import { describeFailure, exitCodeOf } from './failure.js';
import { complain } from './output.js';
import { buildProgram } from './program.js';

// With `… | head` the pipe closes early; the rest of the output is not needed.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

try {
  await buildProgram().parseAsync();
} catch (error) {
  for (const line of await describeFailure(error)) complain(line);
  // Not exit(), which could lose output that is still being written to a pipe.
  process.exitCode = exitCodeOf(error);
}

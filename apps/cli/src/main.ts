import 'reflect-metadata';
import { describeFailure, exitCodeOf } from './failure.js';
import { buildProgram } from './program.js';

// `… | head` closes our output early: there is nobody left to tell anything.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

try {
  await buildProgram().parseAsync();
} catch (error) {
  for (const line of await describeFailure(error)) console.error(line);
  // Not exit(): what was printed may still be on its way to a pipe.
  process.exitCode = exitCodeOf(error);
}

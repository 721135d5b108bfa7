import 'reflect-metadata';
import { afterAll, beforeAll } from 'vitest';
import { forgetLogins } from './forget-logins.js';
import { endLeftOvers } from './processes.js';

// All test files share one client address, so their failed logins would add up.
beforeAll(forgetLogins);
afterAll(endLeftOvers);

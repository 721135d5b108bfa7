import 'reflect-metadata';
import { afterAll, beforeAll } from 'vitest';
import { forgetLogins } from './forget-logins.js';
import { endLeftOvers } from './processes.js';

// All test files call from one address, whose failed logins would add up.
beforeAll(forgetLogins);
afterAll(endLeftOvers);

import { GO } from './go.js';
import { JAVA } from './java.js';
import { NODE } from './node.js';
import { PHP } from './php.js';
import { PYTHON } from './python.js';

/** The programs, in the order of the menu. */
export const SNIPPETS = [NODE, PYTHON, GO, JAVA, PHP] as const;

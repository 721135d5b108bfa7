// `npm run bench`: measures the whole service against bare programs (docs/performance.md).
import { runSuite } from './lib/suite.mjs';

runSuite('bench');

// `npm run test:release`: what a release must hold besides `npm test`, and what takes long or is fetched for it: the
// image, the tests of the patches in docs/extending, the alerts, clients that others' generators make, and what others' tools say
// about the API.
import { runVitest } from './lib/run-vitest.mjs';

runVitest(['--project=release', '--testTimeout=900000', ...process.argv.slice(2)]);

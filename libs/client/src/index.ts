export { type Answer, answerOf, everyOf, idOf, nextPageOf, RefusedError } from './answers.js';
export { leftOutText, outlookText } from './outlook-text.js';
export { type Client, type ClientOptions, createClient, type Schemas } from './client.js';

export { type Answer, answerOf, everyOf, idOf, nextPageOf, RefusedError } from './answers.js';
export { outlookText } from './outlook-text.js';
export { type Client, type ClientOptions, createClient, type Schemas } from './client.js';

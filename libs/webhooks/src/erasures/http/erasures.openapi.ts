import { AddressSchema, describeError, describeRoutes, schema } from '#libs/http';
import { ErasuresRunningError } from '../domain/erasure.js';
import { ErasureCountSchema, ErasureView } from './erasure.view.js';
import { ErasuresController } from './erasures.controller.js';

const RUNNING = describeError(
  new ErasuresRunningError(),
  'Twenty erasures are running for the account, or for all accounts.',
);

/** The erasures' part of the API description. */
export const erasuresRoutes = describeRoutes(ErasuresController, {
  tag: 'Erasures',
  about: 'An erasure removes a text, such as a telephone number, from stored events.',
  path: { id: { about: "The erasure's id.", schema: schema.uuid('') } },
  operations: {
    start: {
      summary: 'Erase a text',
      about:
        "Empties the data of the account's events that contain a text, and the stored responses of their attempts, and " +
        "removes producers' keys that contain it. The events stay, with `erasedAt`. What still waits of them is cancelled, " +
        'with the reason `erased`, and they cannot be sent again. Events that are accepted after the request are not ' +
        'erased. An event that is reported again with a removed key is accepted as a new one. The other roles than ' +
        '`account` may erase for any account, or for all.',
      examples: {
        smallest: { contains: '+14075550100' },
        everything: {
          contains: '+14075550100',
          accountId: '83346',
          since: '2026-01-01T00:00:00Z',
          until: '2026-01-31T12:00:00Z',
          dryRun: true,
        },
      },
      answer: AddressSchema,
      others: {
        200: {
          about: 'The result of a dry run, which changes nothing.',
          schema: ErasureCountSchema,
        },
      },
      errors: [RUNNING],
    },
    show: {
      summary: 'Show an erasure',
      about: 'Returns what an erasure has erased, and its progress, but not the text.',
      answer: ErasureView.schema,
    },
  },
});

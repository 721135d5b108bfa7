import { expect, it } from 'vitest';
import { signedBody } from './signed-body.js';

const event = `{"id":"e","event":"cdrCreated","resource":"call","accountId":83346,"applicationId":"7",
"occurredAt":"2026-11-25T12:00:00.000Z","data":{"n":12345678901234567890}}`;

it('orders the members of the event and the subscription as they are sent', () => {
  const webhook = '{"id":"4","name":"Billing \\"EU\\"","payload":{"z":1.0,"a":2}}';
  expect(signedBody({ id: 'd', isTest: false, event, webhook })).toBe(
    '{"id":"d","name":"Billing \\"EU\\"","event":"cdrCreated","resource":"call","accountId":"83346",' +
      '"applicationId":"7","timestamp":"2026-11-25T12:00:00.000Z","data":{"n":12345678901234567890},' +
      '"payload":{"z":1.0,"a":2}}',
  );
});

it('omits unset members, and marks a test', () => {
  expect(signedBody({ id: 'd', isTest: true, event, webhook: undefined })).toContain(
    '"timestamp":"2026-11-25T12:00:00.000Z","test":true,"data":',
  );
});

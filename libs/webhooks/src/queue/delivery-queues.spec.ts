import { expect, it } from 'vitest';
import { jobsOf } from './delivery-queues.js';

const ID = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';

it('reads the deliveries of a job', () => {
  const jobs = [
    { id: ID, lease: 0 },
    { id: ID, lease: 3 },
  ];
  expect(jobsOf({ deliveries: jobs })).toEqual({ jobs, malformed: 0 });
});

it.each([undefined, null, 7, 'x', [], {}, { deliveries: null }, { deliveries: {} }])(
  'counts %j as one malformed delivery',
  (data) => {
    expect(jobsOf(data)).toEqual({ jobs: [], malformed: 1 });
  },
);

it('counts each malformed delivery of a job, and reads the others', () => {
  const good = { id: ID, lease: 1 };
  const bad = [null, 1, 'x', [], {}, { id: ID }, { id: 'x', lease: 1 }, { id: ID, lease: 1.5 }];
  expect(jobsOf({ deliveries: [...bad, good] })).toEqual({ jobs: [good], malformed: bad.length });
});

import { expect, it } from 'vitest';
import { jobIdOf, jobsOf } from './delivery-queues.js';

const ID = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';

it('reads the deliveries of a job', () => {
  const jobs = [
    { id: ID, lease: 0 },
    { id: ID, lease: 3 },
  ];
  expect(jobsOf(jobIdOf(jobs))).toEqual({ jobs, malformed: 0 });
});

it('counts each malformed delivery of a job, and reads the others', () => {
  const bad = ['', 'x', '7', ID, `${ID}.`, `${ID}.-1`, `${ID}.1.5`, `${ID}.1e3`, `${ID} .1`, 'x.1'];
  const tooLong = `${ID}.${'9'.repeat(10)}`;
  expect(jobsOf([...bad, tooLong, `${ID}.1`].join())).toEqual({
    jobs: [{ id: ID, lease: 1 }],
    malformed: bad.length + 1,
  });
});

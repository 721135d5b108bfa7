import type { Command } from 'commander';
import type { Schemas } from '#libs/client';
import { apiOf } from '../api/api-connection.js';
import { queryOf } from '../api/lists.js';
import { numericId, wholeNumber } from '../arguments.js';
import { addApiCommand, type Options, withAccount } from '../command.js';
import { print } from '../output.js';
import { printFields, Table } from '../table.js';

type Summary = Schemas['AttemptSummary'];

interface StatsOptions extends Options {
  buckets: number;
}

const DEFAULT_BUCKETS = 12;
const MAX_BUCKETS = 500;

/** `stats` */
export function addStatsCommand(program: Command): void {
  const command = addApiCommand(
    program,
    'stats',
    'show how the attempts of an account or a subscription ended, and how long they took',
    '--since 2027-01-31T12:00:00Z',
  ).option('--webhook <id>', 'only of this subscription', numericId);
  withAccount(command)
    .option('--since <time>', 'from this time on (default: an hour before the end)')
    .option('--until <time>', 'before this time (default: now)')
    .option(
      '--buckets <n>',
      'the maximum number of rows',
      wholeNumber(1, MAX_BUCKETS),
      DEFAULT_BUCKETS,
    )
    .action(stats);
}

async function stats(options: StatsOptions, command: Command): Promise<void> {
  const { webhook, account: accountId, since, until, buckets } = options;
  if (webhook !== undefined && accountId !== undefined) {
    command.error('error: --webhook and --account exclude each other');
  }
  const api = await apiOf(options, command);
  const of = webhook === undefined ? '' : `webhooks/${webhook}/`;
  const query = queryOf({ accountId, since, until, buckets: String(buckets) });
  const { text } = await api.ask('GET', `v1/${of}stats${query}`);
  if (options.json) {
    print(options, text, '');
    return;
  }
  const answer = JSON.parse(text) as Schemas['AccountStatistics'] | Schemas['DeliveryStatistics'];
  const history = 'buckets' in answer ? answer : answer.history!;
  const { deliveries, since: waitingSince } = answer.waiting;
  printFields([
    ['from', history.since],
    ['until', history.until],
    ['attempts', String(history.attempts)],
    ['outcomes', outcomesOf(history)],
    ['response time', answerTimeOf(history)],
    [
      'waiting',
      waitingSince === undefined ? '0' : `${deliveries}, the oldest since ${waitingSince}`,
    ],
  ]);
  const table = new Table(options, [
    { title: 'from' },
    { title: 'attempts', isNumber: true },
    { title: 'succeeded', isNumber: true },
    { title: 'failed', isNumber: true, styleOf: (count) => (count === '0' ? undefined : 'red') },
    { title: 'p50 ms', isNumber: true },
    { title: 'p95 ms', isNumber: true },
    { title: 'p99 ms', isNumber: true },
  ]);
  table.add(history.buckets.map((value) => ({ value, cells: cellsOf(value) })));
}

function outcomesOf({ outcomes }: Summary): string {
  const counts = Object.entries(outcomes).map(([outcome, count]) => `${outcome} ${count}`);
  return counts.join(', ');
}

function answerTimeOf({ answerMs }: Summary): string {
  return answerMs ? `p50 ${answerMs.p50} ms, p95 ${answerMs.p95} ms, p99 ${answerMs.p99} ms` : '';
}

function cellsOf({ since, attempts, outcomes, answerMs }: Summary): (string | undefined)[] {
  const succeeded = outcomes['2xx'] ?? 0;
  const times = [answerMs?.p50, answerMs?.p95, answerMs?.p99];
  return [
    since,
    ...[attempts, succeeded, attempts - succeeded].map(String),
    ...times.map((ms) => ms?.toString()),
  ];
}

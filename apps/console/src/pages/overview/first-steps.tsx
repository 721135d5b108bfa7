import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Circle, CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { applicationsOf, subscriptionsOf } from '../../app/names.queries.js';
import { useStream } from '../../app/stream.js';
import { SendTestEvent } from './send-test-event.js';
import { hasDeliveriesQuery } from './statistics.queries.js';

/** The steps of a new account to its first delivery. */
export function FirstSteps() {
  const client = useQueryClient();
  const { data: applications } = useQuery({ ...applicationsOf(), staleTime: 0 });
  const { data: subscriptions = [] } = useQuery(subscriptionsOf());
  const isSubscribed = subscriptions.length > 0;
  useStream({
    delivery: () => void client.invalidateQueries({ queryKey: hasDeliveriesQuery.queryKey }),
  });
  return (
    <section className="card first-steps" aria-labelledby="first-steps">
      <header>
        <h2 id="first-steps">Three steps to your first notification</h2>
      </header>
      <ol>
        <Step
          name="Create an application"
          isDone={!!applications && applications.length > 0}
          action={
            <Link href="/applications/new" className="button">
              New application
            </Link>
          }
        >
          It names the URLs that control the calls and messages of your numbers. You can skip it: a
          subscription can cover the whole account.
        </Step>
        <Step
          name="Subscribe"
          isDone={isSubscribed}
          action={
            <Link href="/subscriptions/new" className={`button ${isSubscribed ? '' : 'primary'}`}>
              New subscription
            </Link>
          }
        >
          Choose which events go to which of your URLs.
        </Step>
        <Step
          name="Send a test event"
          isDone={false}
          action={<SendTestEvent {...(isSubscribed && { className: 'primary' })} />}
        >
          It is signed and delivered like a real event, but not retried.
        </Step>
      </ol>
    </section>
  );
}

function Step({
  name,
  isDone,
  action,
  children,
}: {
  name: string;
  isDone: boolean;
  action: ReactNode;
  children: ReactNode;
}) {
  const Sign = isDone ? CircleCheck : Circle;
  return (
    <li>
      <Sign
        size={20}
        className={isDone ? 'toned good' : 'muted'}
        role="img"
        aria-label={isDone ? 'Done' : 'Not done yet'}
      />
      <div>
        <h3>{name}</h3>
        <p className="muted">{children}</p>
      </div>
      {action}
    </li>
  );
}

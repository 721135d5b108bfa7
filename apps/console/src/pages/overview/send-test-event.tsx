import { idOf } from '#libs/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Zap } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { answerOf, api } from '../../app/api.js';
import { FormDialog } from '../../app/form-dialog.js';
import { useCommands } from '../../app/palette.js';
import { Field } from '../../components/field.js';
import { hasDeliveriesQuery } from './statistics.queries.js';
import { allSubscriptionsQuery, type Subscription } from './subscriptions.queries.js';

const LABEL = 'Send a test event';

/** A button that sends a test to an enabled subscription, and opens its delivery. */
export function SendTestEvent({ className }: { className?: string }) {
  const { data = [] } = useQuery(allSubscriptionsQuery);
  const [isOpen, setIsOpen] = useState(false);
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const send = useMutation({
    mutationFn: (id: string) =>
      answerOf(api.POST('/v1/webhooks/{id}/test', { params: { path: { id } } })),
  });
  const choices = data.filter(({ enabled }) => enabled);
  const open = () => setIsOpen(true);
  useCommands(choices.length === 0 ? [] : [{ name: LABEL, group: 'Actions', run: open }]);
  return (
    <>
      <button
        type="button"
        className={className}
        aria-haspopup="dialog"
        disabled={choices.length === 0}
        onClick={open}
      >
        <Zap size={14} aria-hidden /> Send test event
      </button>
      {isOpen && (
        <FormDialog
          label={LABEL}
          action="Send"
          labels={{}}
          made={send}
          onSubmit={(text, done) =>
            send.mutate(text('webhook'), {
              onSuccess: (made) => {
                done();
                client.setQueryData(hasDeliveriesQuery.queryKey, true);
                navigate(`/deliveries/${idOf(made)}`);
              },
            })
          }
          onClose={() => setIsOpen(false)}
        >
          {() => (
            <Field
              label="To the subscription"
              hint="It is signed and delivered like a real event, but not retried."
            >
              <select name="webhook" autoFocus>
                {choices.map((one) => (
                  <option key={one.id} value={one.id}>
                    {nameOf(one)}
                  </option>
                ))}
              </select>
            </Field>
          )}
        </FormDialog>
      )}
    </>
  );
}

function nameOf({ name, targetUrl }: Subscription): string {
  return name === undefined ? targetUrl : `${name} (${targetUrl})`;
}

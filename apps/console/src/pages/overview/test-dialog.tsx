import { idOf } from '#libs/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { answerOf, api } from '../../app/api.js';
import { FormDialog } from '../../app/form-dialog.js';
import { Field } from '../../components/field.js';
import { hasDeliveriesQuery } from './statistics.queries.js';
import type { Subscription } from '../../app/names.queries.js';

/** Sends a test to one of the subscriptions, and opens its delivery. */
export default function TestDialog({
  label,
  choices,
  onClose,
}: {
  label: string;
  choices: readonly Subscription[];
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const send = useMutation({
    mutationFn: (id: string) =>
      answerOf(api.POST('/v1/webhooks/{id}/test', { params: { path: { id } } })),
  });
  return (
    <FormDialog
      label={label}
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
      onClose={onClose}
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
  );
}

function nameOf({ name, targetUrl }: Subscription): string {
  return name === undefined ? targetUrl : `${name} (${targetUrl})`;
}

import { useQuery } from '@tanstack/react-query';
import { Field } from '../../components/field.js';
import { FormGroup } from '../../components/form.js';
import { APPLICATION_LABELS as LABELS, type ApplicationValues } from './application-values.js';
import { environmentsQuery } from './application.queries.js';

/** The inputs of an application, with the API's faults. */
export function ApplicationFields({
  values,
  faults = {},
  onChange = () => undefined,
}: {
  values: ApplicationValues;
  faults?: Record<string, string>;
  onChange?: (some: Partial<ApplicationValues>) => void;
}) {
  const { data: environments = [] } = useQuery(environmentsQuery);
  const isUnknown = !environments.some(({ id }) => id === values.environment);
  return (
    <>
      <FormGroup title="What">
        <Field label={LABELS.name} error={faults['name']}>
          <input
            value={values.name}
            autoComplete="off"
            onChange={({ target }) => onChange({ name: target.value })}
          />
        </Field>
        <Field label={LABELS.apiType} error={faults['apiType']}>
          <select
            value={values.apiType}
            onChange={({ target }) => onChange({ apiType: target.value })}
          >
            <option>scripting</option>
            <option>webapi</option>
          </select>
        </Field>
        <Field label={LABELS.environment} error={faults['environment']}>
          <select
            value={values.environment}
            onChange={({ target }) => onChange({ environment: target.value })}
          >
            {isUnknown && (
              <option value={values.environment}>
                {values.environment === '' ? 'Default environment' : values.environment}
              </option>
            )}
            {environments.map(({ id, name, billable }) => (
              <option key={id} value={id}>
                {name}
                {billable ? ' (billed)' : ''}
              </option>
            ))}
          </select>
        </Field>
      </FormGroup>
      <FormGroup title="Where">
        <Field
          label={LABELS.voiceUrl}
          hint="Controls its calls. An application needs a voice URL, a messaging URL, or both."
          error={faults['voiceUrl']}
        >
          <input
            value={values.voiceUrl}
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => onChange({ voiceUrl: target.value })}
          />
        </Field>
        <Field
          label={LABELS.messagingUrl}
          hint="Controls its messages (SMS)."
          error={faults['messagingUrl']}
        >
          <input
            value={values.messagingUrl}
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => onChange({ messagingUrl: target.value })}
          />
        </Field>
      </FormGroup>
    </>
  );
}

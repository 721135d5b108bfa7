import type { Schemas } from '../../app/api.js';

/** The meaning of each event kind. */
export const EVENT_KINDS: Record<Schemas['EventKind'], string> = {
  smsdlr: 'a message was delivered or failed',
  cdrCreated: 'a call or message has ended',
  cdrRated: 'a call or message was priced',
  webhookFailing: 'another subscription keeps failing (for all resources)',
  webhookDisabled: 'the service disabled another subscription (for all resources)',
  webhookRecovered: 'another subscription works again (for all resources)',
};

const NOTICES: readonly string[] = ['webhookFailing', 'webhookDisabled', 'webhookRecovered'];

/** Whether events of the kind are about subscriptions. */
export function isNotice(kind: string): boolean {
  return NOTICES.includes(kind);
}

export const RESOURCES = ['call', 'sms', 'transcription'] as const;

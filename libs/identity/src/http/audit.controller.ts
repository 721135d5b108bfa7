import { Controller, Get } from '@nestjs/common';
import { type Answer, given, listedOrExported, QueryOf, type QueryReader } from '#libs/http';
import { isNumericId, oneOf, type Page } from '#libs/kernel';
import { AUDIT_ACTIONS, type AuditFilter, AuditLog } from '../domain/audit-log.js';
import type { Principal } from '../domain/logins.js';
import { AuditRecordView } from './audit.view.js';
import { CurrentUser } from './current-user.js';

const ACTION = oneOf(AUDIT_ACTIONS);
const RESOURCE = oneOf([...new Set(AUDIT_ACTIONS.map((action) => action.split('.')[0]!))]);

/** The changes of the caller's account, or of all accounts for the platform. */
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly log: AuditLog) {}

  @Get()
  list(
    @CurrentUser() { role, userId }: Principal,
    @QueryOf(readQuery) { page, filter }: ReturnType<typeof readQuery>,
  ): Answer {
    const viewer = role === 'platform' ? undefined : userId;
    const { accountId } = filter;
    // Without this, a query for another account would scan all entries of the viewer.
    const isForeign = viewer !== undefined && accountId !== undefined && accountId !== viewer;
    const read = async (of: Page) => (isForeign ? { rows: [] } : this.log.list(viewer, filter, of));
    return listedOrExported(page, read, AuditRecordView, 'audit');
  }
}

function readQuery(query: QueryReader): { page: Page; filter: AuditFilter } {
  const page = query.exportablePage();
  const accountId = query.text('accountId');
  const filter = given({
    // A text that is not an id finds nothing, like 0.
    accountId: accountId === undefined || isNumericId(accountId) ? accountId : '0',
    action: query.filter('action', ACTION),
    resource: query.filter('resource', RESOURCE),
    resourceId: query.text('resourceId'),
  });
  return { page, filter: { ...filter, ...query.times() } };
}

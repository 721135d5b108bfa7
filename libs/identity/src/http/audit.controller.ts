import { Controller, Get } from '@nestjs/common';
import {
  type Answer,
  EXPORTABLE_PAGE,
  listedOrExported,
  parameter,
  type Query,
  QueryOf,
  TIMES,
} from '#libs/http';
import { EVERY_ACCOUNT, oneOf, type Page } from '#libs/kernel';
import { AUDIT_ACTIONS, AuditLog } from '../domain/audit-log.js';
import type { Principal } from '../domain/logins.js';
import { ownerSeen } from './account-shown.js';
import { AuditRecordView } from './audit.view.js';
import { CurrentUser } from './current-user.js';

const ACTION = oneOf(AUDIT_ACTIONS);
const RESOURCE = oneOf([...new Set(AUDIT_ACTIONS.map((action) => action.split('.')[0]!))]);

const LIST = {
  filter: {
    accountId: parameter.numericId('Only changes in this account.', '83346'),
    action: parameter.filter(ACTION, 'Only changes with this `action`.', 'webhook.update'),
    resource: parameter.filter(RESOURCE, 'Only changes to this kind of resource.', 'webhook'),
    resourceId: parameter.text('Only changes to resources with this id.', '4711'),
    ...TIMES,
  },
  page: EXPORTABLE_PAGE,
};

/** The changes of the caller's account, or of all accounts for operators. */
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly log: AuditLog) {}

  @Get()
  list(
    @CurrentUser() user: Principal,
    @QueryOf(LIST) { page, filter }: Query<typeof LIST>,
  ): Answer {
    const viewer = ownerSeen(user);
    const { accountId } = filter;
    // Without this, a query for another account would scan all entries of the viewer.
    const isForeign = viewer !== EVERY_ACCOUNT && accountId !== undefined && accountId !== viewer;
    const read = async (of: Page) => (isForeign ? { rows: [] } : this.log.list(viewer, filter, of));
    return listedOrExported(page, read, AuditRecordView, 'audit');
  }
}

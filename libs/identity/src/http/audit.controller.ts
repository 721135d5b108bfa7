import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { answerList, QueryReader, textsOf, timesOf } from '#libs/http';
import { isNumericId, type Page } from '#libs/kernel';
import { type AuditFilter, AuditLog } from '../domain/audit-log.js';
import type { Principal } from '../domain/logins.js';
import { AuditRecordView } from './audit.view.js';
import { CurrentUser } from './decorators.js';

/** The changes of the caller's account, or of all accounts for the platform. */
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly log: AuditLog) {}

  @Get()
  async list(
    @CurrentUser() { role, userId }: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const query = new QueryReader(request);
    const page = query.page();
    const filter = filterOf(query);
    query.done();
    const viewer = role === 'platform' ? undefined : userId;
    const { accountId } = filter;
    // Without this, a query for another account would scan all entries of the viewer.
    const isForeign = viewer !== undefined && accountId !== undefined && accountId !== viewer;
    const read = async (of: Page) => (isForeign ? { rows: [] } : this.log.list(viewer, filter, of));
    await answerList(request, response, page, read, AuditRecordView);
  }
}

function filterOf(query: QueryReader): AuditFilter {
  const accountId = query.text('accountId');
  return {
    // A text that is not an id finds nothing, like 0.
    ...(accountId !== undefined && { accountId: isNumericId(accountId) ? accountId : '0' }),
    ...textsOf(query, ['action', 'resource', 'resourceId']),
    ...timesOf(query),
  };
}

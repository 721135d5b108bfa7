import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { answerList, QueryReader, textsOf, timesOf } from '#libs/http';
import { isNumericId, type Page } from '#libs/kernel';
import { type AuditFilter, AuditLog } from '../domain/audit-log.js';
import type { Principal } from '../domain/principal.js';
import { showAuditRecord } from './audit.view.js';
import { CurrentUser } from './decorators.js';

/** Who changed what: of one's own account, for the platform of all. */
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
    // All entries of the viewer would be looked at for one of somebody else.
    const isOfOther = viewer !== undefined && accountId !== undefined && accountId !== viewer;
    const read = async (of: Page) => (isOfOther ? { rows: [] } : this.log.list(viewer, filter, of));
    await answerList(request, response, page, read, showAuditRecord);
  }
}

function filterOf(query: QueryReader): AuditFilter {
  const accountId = query.text('accountId');
  return {
    // What is no id names no account: it finds nothing, as 0 does.
    ...(accountId !== undefined && { accountId: isNumericId(accountId) ? accountId : '0' }),
    ...textsOf(query, ['action', 'resource', 'resourceId']),
    ...timesOf(query),
  };
}

import { Controller, Get } from '@nestjs/common';
import { PlatformOnly } from '#libs/identity/http';
import { Overview } from '../overview.js';

/** The state of the installation, for operators. */
@Controller('v1/overview')
@PlatformOnly()
export class OverviewController {
  constructor(private readonly overview: Overview) {}

  @Get()
  show(): Promise<object> {
    return this.overview.show();
  }
}

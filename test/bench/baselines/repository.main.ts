/**
 * The baseline of reading: a bare NestJS handler on Express with the same query of the same repository, without
 * credentials. `repository.main.js <port> <database>`
 */
import 'reflect-metadata';
import { Controller, Get, Module, Param, Query } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { EntitySchema, IsNull, Repository } from 'typeorm';

const [, , port = '', url = ''] = process.argv;

class Application {
  id!: string;
  userId!: string;
}

const ApplicationSchema = new EntitySchema<
  Application &
    Record<'name' | 'apiType' | 'voiceUrl' | 'messagingUrl' | 'partition', string> & {
      environmentId: string;
      version: number;
      createdAt: Date;
      updatedAt: Date;
      deletedAt: Date;
    }
>({
  name: 'Application',
  target: Application,
  tableName: 'applications',
  columns: {
    id: { type: 'bigint', primary: true },
    userId: { name: 'user_id', type: 'bigint' },
    name: { type: 'text' },
    apiType: { name: 'api_type', type: 'text' },
    voiceUrl: { name: 'voice_url', type: 'text', nullable: true },
    messagingUrl: { name: 'messaging_url', type: 'text', nullable: true },
    environmentId: { name: 'environment_id', type: 'bigint', nullable: true },
    partition: { type: 'text', nullable: true },
    version: { type: 'integer' },
    createdAt: { name: 'created_at', type: 'timestamptz' },
    updatedAt: { name: 'updated_at', type: 'timestamptz' },
    deletedAt: { name: 'deleted_at', type: 'timestamptz', nullable: true },
  },
});

@Controller()
class ApplicationsController {
  constructor(
    @InjectRepository(Application) private readonly applications: Repository<Application>,
  ) {}

  @Get('health/ready')
  ready(): object {
    return {};
  }

  @Get('v1/applications')
  list(@Query('user') userId: string): Promise<Application[]> {
    return this.applications.find({
      where: { userId, deletedAt: IsNull() } as object,
      order: { id: 'ASC' },
    });
  }

  @Get('v1/applications/:id')
  show(@Param('id') id: string, @Query('user') userId: string): Promise<Application | null> {
    return this.applications.findOne({ where: { id, userId, deletedAt: IsNull() } as object });
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url, entities: [ApplicationSchema], poolSize: 10 }),
    TypeOrmModule.forFeature([ApplicationSchema]),
  ],
  controllers: [ApplicationsController],
})
class ApplicationsModule {}

const app = await NestFactory.create(ApplicationsModule, { logger: false });
await app.listen(Number(port), '127.0.0.1');

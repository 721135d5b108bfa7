/**
 * The baseline of accepting and delivering: a bare NestJS handler on Express that parses an event and posts it straight
 * to the receiver. It stores nothing. `post-on.main.js <port> <target>`
 */
import 'reflect-metadata';
import { Body, Controller, Get, HttpCode, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Agent, request } from 'undici';

const [, , port = '', target = ''] = process.argv;
const dispatcher = new Agent();

@Controller()
class PostOnController {
  @Get('health/ready')
  ready(): object {
    return {};
  }

  @Post('v1/events')
  @HttpCode(202)
  async post(@Body() event: object): Promise<object> {
    const { statusCode, body } = await request(target, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
    });
    await body.dump();
    return { status: statusCode };
  }
}

@Module({ controllers: [PostOnController] })
class PostOnModule {}

const app = await NestFactory.create(PostOnModule, { logger: false });
await app.listen(Number(port), '127.0.0.1');

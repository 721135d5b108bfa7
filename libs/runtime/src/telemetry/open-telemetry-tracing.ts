import { AsyncLocalStorage } from 'node:async_hooks';
import type { OnApplicationShutdown } from '@nestjs/common';
import {
  type Context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span as OpenTelemetrySpan,
  SpanKind as Kind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Log } from '../logging/log.js';
import { VERSION } from '../config/version.js';
import { type Span, type SpanKind, type SpanStart, Tracing } from './tracing.js';

/** How long a process that stops waits for the collector to accept the last spans. */
const LAST_EXPORT_MS = 2_000;

const KINDS: Record<SpanKind, Kind> = {
  server: Kind.SERVER,
  producer: Kind.PRODUCER,
  consumer: Kind.CONSUMER,
  client: Kind.CLIENT,
};

/**
 * Sends spans to a collector with OTLP over HTTP. Sampling, headers and limits are configured with
 * OpenTelemetry's own environment variables, which its SDK reads.
 */
export class OpenTelemetryTracing extends Tracing implements OnApplicationShutdown {
  override readonly enabled = true;
  private readonly present = new AsyncLocalStorage<Context>();
  private readonly provider: NodeTracerProvider;
  private readonly tracer;

  /** @param endpoint base address of the collector, such as `http://127.0.0.1:4318` */
  constructor(endpoint: string, processName: string, log: Log) {
    super();
    const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
    this.provider = new NodeTracerProvider({
      resource: resourceFromAttributes({
        'service.name': `switchhook-${processName}`,
        'service.version': VERSION,
      }),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.tracer = this.provider.getTracer('switchhook', VERSION);
    const report = (message: string): void => log.warn({ message }, 'traces could not be sent');
    const silence = (): void => undefined;
    diag.setLogger(
      { error: report, warn: report, info: silence, debug: silence, verbose: silence },
      DiagLogLevel.WARN,
    );
  }

  override get traceparent(): string | undefined {
    const span = trace.getSpanContext(this.present.getStore() ?? ROOT_CONTEXT);
    if (!span) return undefined;
    const flags = span.traceFlags.toString(16).padStart(2, '0');
    return `00-${span.traceId}-${span.spanId}-${flags}`;
  }

  override async span<Result>(
    { name, kind, parent, attributes = {} }: SpanStart,
    work: (span: Span) => Promise<Result>,
  ): Promise<Result> {
    const remote = parent === undefined ? null : parseTraceParent(parent);
    const parentContext = remote
      ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true })
      : (this.present.getStore() ?? ROOT_CONTEXT);
    const span = this.tracer.startSpan(name, { kind: KINDS[kind], attributes }, parentContext);
    try {
      return await this.present.run(trace.setSpan(parentContext, span), () => work(spanOf(span)));
    } catch (error) {
      spanOf(span).fail(error instanceof Error ? error.name : 'error');
      throw error;
    } finally {
      span.end();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LAST_EXPORT_MS);
    });
    await Promise.race([this.provider.shutdown().catch(() => undefined), timeout]);
    clearTimeout(timer);
  }
}

function spanOf(span: OpenTelemetrySpan): Span {
  return {
    rename: (name) => void span.updateName(name),
    set: (attribute, value) => void span.setAttribute(attribute, value),
    fail: (type) => {
      span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
    },
  };
}

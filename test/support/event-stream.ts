import { get, type IncomingMessage } from 'node:http';
import { eventually } from '#tools/eventually';
import { basic } from './http.js';

/** An event of a stream of server-sent events. */
export interface StreamedEvent {
  name: string;
  id: string | undefined;
  data: string;
}

/** A client of a stream of server-sent events, which reads continuously. */
export class EventStream {
  readonly events: StreamedEvent[] = [];
  /** The received comments. */
  comments = 0;
  /** Whether the server has ended it. */
  ended = false;
  private text = '';

  private constructor(private readonly answer: IncomingMessage) {
    answer
      .setEncoding('utf8')
      .on('data', (text: string) => this.read(text))
      .on('close', () => (this.ended = true))
      .on('error', () => undefined);
  }

  /** Resolves with the first event. @throws Error for an answer other than 200 */
  static async open(
    url: string,
    auth: string | undefined,
    headers: Record<string, string> = {},
  ): Promise<EventStream> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const all = { ...headers, ...(auth !== undefined && { authorization: basic(auth) }) };
      get(url, { agent: false, headers: all }, resolve).on('error', reject);
    });
    if (answer.statusCode !== 200) {
      answer.destroy();
      throw new Error(`the stream was answered with ${answer.statusCode}`);
    }
    const stream = new EventStream(answer);
    await stream.until(({ name }) => name === 'open');
    return stream;
  }

  /** Resolves with all events so far once a wanted one arrives. */
  until(isWanted: (event: StreamedEvent) => boolean, withinMs = 10_000): Promise<StreamedEvent[]> {
    return eventually(
      () => Promise.resolve(this.events),
      (events) => events.some(isWanted),
      { ms: withinMs },
    );
  }

  /** The data of the events with a name, as JSON. */
  data<Data>(name: string): Data[] {
    return this.events
      .filter((one) => one.name === name)
      .map(({ data }) => JSON.parse(data) as Data);
  }

  get lastId(): string {
    return this.events.findLast(({ id }) => id !== undefined)?.id ?? '';
  }

  close(): void {
    this.answer.destroy();
  }

  private read(text: string): void {
    this.text += text;
    const blocks = this.text.split('\n\n');
    this.text = blocks.pop()!;
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line) ?? []);
      const valuesOf = (name: string) =>
        fields.flatMap(([, field, value = '']) => (field === name ? [value] : []));
      const [name] = valuesOf('event');
      if (name === undefined) this.comments += 1;
      else this.events.push({ name, id: valuesOf('id')[0], data: valuesOf('data').join('\n') });
    }
  }
}

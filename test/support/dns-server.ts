import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, type Question } from 'dns-packet';

/** How a name server answers: with addresses, with none, with a delay, or not at all. */
export type Answers = (
  question: Question,
) => readonly string[] | { late: readonly string[] } | 'silence';

const LATE_MS = 200;

/** A name server for tests. */
export interface DnsServer {
  /** As `setServers` takes it. */
  address: string;
  /** The questions so far, such as `A name`. */
  asked: string[];
  close: () => Promise<void>;
}

/** Starts a name server on loopback with these answers. Names without addresses do not exist. */
export async function startDnsServer(answers: Answers, port = 0): Promise<DnsServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const { id, questions = [] } = decode(message);
    const question = questions[0];
    if (!question) return;
    asked.push(`${question.type} ${question.name}`);
    const answer = answers(question);
    if (answer === 'silence') return;
    const isLate = 'late' in answer;
    const found = isLate ? answer.late : answer;
    const reply = encode({
      type: 'response',
      id,
      // 3: the name does not exist (RFC 1035, section 4.1.1).
      flags: found.length > 0 ? 0 : 3,
      questions,
      answers: found.map((data) => ({
        type: question.type as 'A' | 'AAAA',
        name: question.name,
        data,
      })),
    });
    setTimeout(() => socket.send(reply, from.port, from.address), isLate ? LATE_MS : 0);
  });
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

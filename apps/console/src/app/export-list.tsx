import '../styles/form.css';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Dialog } from '../components/dialog.js';
import { Field } from '../components/field.js';
import { type ExportedPath, MOST_RECORDS, readFile, save } from './export.js';
import { useCommands } from './commands.js';
import { Problem } from './problem.js';
import type { ExportFormat } from './records.js';

interface Exportable {
  path: ExportedPath;
  /** The name of its entries, such as `events`. */
  what: string;
  /** The filters that are set. */
  values: Readonly<Record<string, string>>;
  /** Larger parts of the entries, which are exported on request. */
  include?: { name: 'data' | 'notification'; label: string };
}

/** A button that saves the entries of a list as a file. */
export function ExportList(list: Exportable) {
  const [isOpen, setIsOpen] = useState(false);
  const open = () => setIsOpen(true);
  const label = `Export ${list.what}`;
  useCommands([{ name: label, group: 'Actions', run: open }]);
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={open}>
        <Download size={14} aria-hidden /> Export …
      </button>
      {isOpen && (
        <Dialog label={label} onClose={() => setIsOpen(false)}>
          <h2>{label}</h2>
          <ExportForm {...list} onClose={() => setIsOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

/** A file of a list that may need several. */
interface Part {
  number: number;
  /** The id after which it begins. */
  after?: string | undefined;
}

const FIRST: Part = { number: 1 };

function ExportForm({
  path,
  what,
  values,
  include,
  onClose,
}: Exportable & { onClose: () => void }) {
  const [format, setFormat] = useState<ExportFormat>('csv');
  const [isIncluded, setIsIncluded] = useState(false);
  const [count, setCount] = useState(0);
  const stopping = useRef<AbortController>(null);
  // Closing the dialog stops it.
  useEffect(() => () => stopping.current?.abort(), []);

  const run = useMutation({
    mutationFn: async ({ number, after }: Part) => {
      const { signal } = (stopping.current = new AbortController());
      setCount(0);
      const query = {
        ...values,
        ...(include && isIncluded && { include: include.name }),
        ...(after !== undefined && { after }),
      };
      const exported = await readFile(path, query, format, { signal, onCount: setCount });
      const name = path.slice(path.lastIndexOf('/') + 1);
      const fileName = `${name}${number > 1 ? `-${number}` : ''}.${format}`;
      if (exported.count > 0) save(exported.file, fileName);
      return { ...exported, fileName, number };
    },
  });
  const { data: done, isPending, error, variables } = run;
  const next = done?.last === undefined ? FIRST : { number: done.number + 1, after: done.last };
  return (
    <>
      <Field
        label="Format"
        hint={`All ${what} that match the filters, newest first. A file has at most ${MOST_RECORDS.toLocaleString('en')}.`}
      >
        <select
          value={format}
          disabled={isPending}
          onChange={({ target }) => {
            setFormat(target.value as ExportFormat);
            run.reset();
          }}
        >
          <option value="csv">CSV, for spreadsheets</option>
          <option value="ndjson">NDJSON, for programs: a line of JSON for each entry</option>
        </select>
      </Field>
      {include && (
        <div className="choices">
          <label>
            <input
              type="checkbox"
              checked={isIncluded}
              disabled={isPending}
              onChange={({ target }) => {
                setIsIncluded(target.checked);
                run.reset();
              }}
            />
            {include.label}
          </label>
        </div>
      )}
      <p role="status">
        {isPending && `${entriesText(count)} so far …`}
        {done && (done.count === 0 ? 'Nothing matches.' : savedText(done))}
      </p>
      <Problem error={error} />
      <div className="tools">
        <button
          type="button"
          className="primary"
          disabled={isPending}
          onClick={() => run.mutate(error ? variables : next)}
        >
          {next === FIRST ? 'Export' : 'Export the next ones'}
        </button>
        <button type="button" onClick={onClose}>
          {done ? 'Close' : 'Cancel'}
        </button>
      </div>
    </>
  );
}

const entriesText = (count: number): string =>
  count === 1 ? '1 entry' : `${count.toLocaleString('en')} entries`;

function savedText({
  count,
  fileName,
  last,
}: {
  count: number;
  fileName: string;
  last?: string | undefined;
}) {
  const are = `${entriesText(count)} ${count === 1 ? 'is' : 'are'} in ${fileName}`;
  return last === undefined ? `${are}.` : `${are}, which is full. There may be more.`;
}

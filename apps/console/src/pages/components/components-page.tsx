import { useState } from 'react';
import { AnswerCode } from '../../components/answer-code.js';
import { Chart } from '../../components/chart.js';
import type { Series, Span } from '../../components/chart-data.js';
import { Confirm } from '../../components/confirm.js';
import { Conflict } from '../../components/conflict.js';
import { CopyButton } from '../../components/copy-button.js';
import { Dialog } from '../../components/dialog.js';
import { Field } from '../../components/field.js';
import { type Filter, FilterBar, useFilters } from '../../components/filter-bar.js';
import { Figure, Figures } from '../../components/figure.js';
import { Folded, FormFoot, FormGroup } from '../../components/form.js';
import { JsonText } from '../../components/json-text.js';
import { BUTTONS, Lines, number, wide } from '../../components/lines.js';
import { Menu } from '../../components/menu.js';
import { EmptyState, Pill, Notice, type Tone } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { ShownOnce } from '../../components/shown-once.js';
import { type Column, Table } from '../../components/table.js';
import { Tabs } from '../../components/tabs.js';
import { LocalTime, RelativeTime } from '../../components/time.js';
import { showToast } from '../../components/toast.js';

const TONES: readonly Tone[] = ['good', 'bad', 'waiting', 'neutral'];
const FILTERS: readonly Filter[] = [
  { name: 'colour', label: 'Colour', kind: 'choice', choices: ['red', 'green'] },
  { name: 'word', label: 'Word', kind: 'text' },
  { name: 'since', label: 'Since', kind: 'time' },
];
const ROWS = Array.from({ length: 10_000 }, (_, index) => String(index + 1));
const COLUMNS: readonly Column<string>[] = [
  { name: 'Number', width: '1fr', cell: (row) => `Row ${row}` },
  { name: 'Twice', width: '1fr', cell: (row) => 2 * Number(row) },
];
const SPANS: readonly Span[] = Array.from({ length: 12 }, (_, hour) => ({
  since: new Date(2026, 0, 31, hour).toISOString(),
  until: new Date(2026, 0, 31, hour + 1).toISOString(),
}));
const SERIES: readonly Series[] = [
  { name: 'One', colour: 'accent', values: SPANS.map((_, index) => index) },
  {
    name: 'Other',
    colour: 'bad',
    values: SPANS.map((_, index) => (index === 5 ? null : 12 - index)),
  },
];
const NOW = new Date().toISOString();

/** Every component, for developers. Only the development server has this page. */
export default function ComponentsPage() {
  const [isOpen, setIsOpen] = useState(false);
  const [isAsked, setIsAsked] = useState(false);
  const filters = useFilters();
  return (
    <Page title="Components" actions={<CopyButton label="CopyButton" text="copied" />}>
      <h2>Notice, Pill</h2>
      {TONES.map((tone) => (
        <Notice key={tone} tone={tone}>
          A notice that is {tone}, with <Pill tone={tone}>a badge</Pill>
        </Notice>
      ))}
      <h2>EmptyState</h2>
      <EmptyState title="There is nothing yet.">
        <p>What to do next.</p>
      </EmptyState>
      <h2>ShownOnce</h2>
      <ShownOnce name="password" secret="example" onDone={() => showToast('Done')}>
        It was created.
      </ShownOnce>
      <h2>Field</h2>
      <Field label="Name" hint="1 to 255 characters" error="Must not be empty.">
        <input />
      </Field>
      <h2>FormGroup, Folded, FormFoot</h2>
      <form className="settings">
        <FormGroup title="How">
          <Folded title="Headers" summary="2 headers" isWrong={false}>
            <Field label="Headers">
              <textarea />
            </Field>
          </Folded>
        </FormGroup>
        <FormFoot
          action="Save"
          icon={undefined}
          isDisabled={false}
          problem={undefined}
          onDiscard={() => showToast('Discarded')}
        />
      </form>
      <h2>FilterBar, useFilters</h2>
      <FilterBar filters={FILTERS} />
      <p>
        <code>{JSON.stringify(filters)}</code>
      </p>
      <h2>RelativeTime, LocalTime</h2>
      <p>
        <RelativeTime at={NOW} />, <LocalTime at={NOW} />
      </p>
      <h2>Dialog, showToast</h2>
      <button type="button" onClick={() => setIsOpen(true)}>
        Open a dialog
      </button>
      {isOpen && (
        <Dialog label="Example" onClose={() => setIsOpen(false)}>
          <button type="button" onClick={() => showToast('A message', 'neutral')}>
            Show a toast
          </button>
        </Dialog>
      )}
      <h2>Confirm, Conflict</h2>
      <button type="button" onClick={() => setIsAsked(true)}>
        Ask
      </button>
      {isAsked && (
        <Confirm
          label="Do it?"
          action="Do it"
          isBusy={false}
          onConfirm={() => setIsAsked(false)}
          onClose={() => setIsAsked(false)}
        >
          <p>This is what happens.</p>
        </Confirm>
      )}
      <Conflict
        what="this example"
        fields={['Name']}
        onKeep={() => undefined}
        onDiscard={() => undefined}
      />
      <h2>Figures, Figure</h2>
      <Figures>
        <Figure name="Delivered" note="all of them" colour="good" course={[1, 3, 2, 5]}>
          1,295
        </Figure>
        <Figure name="Waiting">0</Figure>
      </Figures>
      <h2>Tabs, JsonText</h2>
      <Tabs
        label="Example"
        tabs={[
          { name: 'Body', content: <JsonText label="Body" text='{"n":1e400,"list":[1,2]}' /> },
          { name: 'Answer', content: <AnswerCode status={200} /> },
        ]}
      />
      <h2>Menu</h2>
      <Menu
        label="Actions"
        items={[
          { name: 'Show a toast', run: () => showToast('A message') },
          { name: 'Delete', run: () => showToast('Deleted', 'bad'), isDangerous: true },
        ]}
      />
      <h2>Chart</h2>
      <Chart label="Bars" kind="bars" spans={SPANS} series={SERIES} textOf={String} />
      <Chart label="Lines" kind="lines" spans={SPANS} series={SERIES} textOf={String} />
      <h2>Short table</h2>
      <Lines heads={['Name', wide('Not on phones'), number('Count'), BUTTONS]}>
        <tr>
          <td>One</td>
          <td className="wide">yes</td>
          <td className="number">1</td>
          <td className="number">
            <button type="button" className="small">
              Do it
            </button>
          </td>
        </tr>
      </Lines>
      <h2>Table</h2>
      <Table
        label="Rows"
        rows={ROWS}
        keyOf={(row) => row}
        hrefOf={(row) => `/components?word=${row}`}
        columns={COLUMNS}
      />
    </Page>
  );
}

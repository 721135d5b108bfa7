import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  accessibilityFaultsOf,
  ConsoleInstallation,
  type Customer,
  overflowOf,
} from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;

beforeAll(async () => {
  installation = await ConsoleInstallation.start({ DELIVERY_RETRY_SCHEDULE: '1h' });
});
afterAll(() => installation.stop());
beforeEach(async () => {
  installation.receiver.answering = (_, response) => response.end();
  customer = await installation.aCustomer();
});
afterEach(() => installation.closePages());

/** Successful deliveries, written directly. */
async function insertDeliveries(webhook: string, count: number): Promise<void> {
  await installation.database.query(
    `WITH w AS (SELECT * FROM webhooks WHERE id = $1),
     e AS (
       INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
       SELECT new_uuid(now(), n), account_id, event, 'call', now(), now(), '{}'
       FROM w, generate_series(1, $2::int) n RETURNING id
     )
     INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state, completed_at,
       created_at)
     SELECT new_uuid(now(), 100000 + row_number() OVER ()::int), e.id, w.id, w.account_id, w.event, w.generation,
       'succeeded', now(), now()
     FROM w, e`,
    [webhook, count],
  );
}

describe('the list of deliveries', () => {
  it('keeps its filters in the address, and the back button undoes them', async () => {
    await installation.aSubscription(customer);
    await installation.report(customer);
    await installation.delivery(customer, 'succeeded');
    const page = await installation.openAs(customer, 'deliveries');
    await page.getByText('cdrCreated · call').waitFor();
    await page.getByLabel('State', { exact: true }).selectOption('exhausted');
    await page.getByText('Nothing matches').waitFor();
    expect(page.url()).toMatch(/deliveries\?state=exhausted$/);
    await page.goBack();
    await page.getByText('cdrCreated · call').waitFor();
    expect(await page.getByLabel('State', { exact: true }).inputValue()).toBe('');
    await page.getByRole('button', { name: 'Any time' }).click();
    await page.getByLabel('Since').fill('2026-01-31T12:00:30');
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => page.url()).toMatch(/since=2026-\d\d-\d\dT\d\d%3A/);
    await page.reload();
    await page.getByRole('button', { name: /^since Jan 31, 2026/ }).click();
    expect(await page.getByLabel('Since').inputValue()).toBe('2026-01-31T12:00:30');
  });

  it('finds deliveries by what a text may mean: an answer, a state, a kind, a name, an id', async () => {
    const webhook = await installation.aSubscription(customer, { name: 'Billing' });
    const event = { id: 'cdr-4711', event: 'cdrCreated', resource: 'call', data: {} };
    const body = { ...event, accountId: customer.id };
    expect((await installation.platform.post('/v1/events', body)).status).toBe(202);
    const { id } = await installation.delivery(customer, 'succeeded');
    const page = await installation.openAs(customer, 'deliveries');
    await page.getByRole('row').getByText('cdr-4711').waitFor();
    await page.getByRole('row').getByText('200', { exact: true }).waitFor();
    const search = page.getByRole('combobox', { name: 'Search deliveries' });
    const searchFor = async (text: string, kind: string, expected: RegExp) => {
      await search.fill(text);
      await page.getByRole('option', { name: kind }).first().click();
      await page.waitForURL(expected);
    };
    const unmatched: [text: string, kind: string, filter: string][] = [
      ['404', 'Answer', 'status=404'],
      ['timeout', 'Answer', 'status=timeout'],
      ['failed', 'State', 'state=exhausted'],
      ['cdrrated', 'Event', 'event=cdrRated'],
    ];
    for (const [text, kind, filter] of unmatched) {
      await searchFor(text, kind, new RegExp(`deliveries\\?${filter}$`));
      await page.getByText('Nothing matches').waitFor();
      expect(await search.inputValue()).toBe('');
      await page.getByRole('button', { name: `Remove the filter ${kind}` }).click();
    }
    await searchFor('billing', 'Subscription', new RegExp(`deliveries\\?webhookId=${webhook}$`));
    await page.getByText('1 delivery', { exact: true }).waitFor();
    await searchFor(id, 'Delivery', new RegExp(`deliveries/${id}$`));
    await page.goBack();
    await searchFor('cdr-4711', 'Producer’s id', /webhookId=\d+&producerId=cdr-4711$/);
    await page.getByText('1 delivery', { exact: true }).waitFor();
    await searchFor('cdr-4712', 'Producer’s id', /producerId=cdr-4712$/);
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'Remove the filter Producer’s id' }).click();
    await page.getByText('1 delivery', { exact: true }).waitFor();
  });

  it('offers each of several subscriptions with the same target, and takes one with Enter', async () => {
    const targetUrl = 'https://hooks.example.com/shared';
    const ids = [];
    for (let n = 0; n < 3; n += 1) {
      ids.push(await installation.aSubscription(customer, { targetUrl, enabled: false }));
    }
    const page = await installation.openAs(customer, 'deliveries');
    const search = page.getByRole('combobox', { name: 'Search deliveries' });
    await search.fill('HOOKS.example');
    const offered = page.getByRole('option', { name: 'Subscription' });
    await expect.poll(() => offered.count()).toBe(3);
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    const texts = await offered.locator('.detail').allInnerTexts();
    expect(texts.sort()).toEqual(ids.sort());
    await page
      .getByRole('option', { name: 'Text in the data' })
      .getByText('case-sensitive')
      .waitFor();
    await search.press('ArrowDown');
    const second = await page
      .getByRole('option', { selected: true })
      .locator('.detail')
      .innerText();
    await search.press('Enter');
    await page.waitForURL(new RegExp(`deliveries\\?webhookId=${second}$`));
  });

  it('stands still while it is hovered or has the focus, and counts new deliveries', async () => {
    await insertDeliveries(await installation.aSubscription(customer), 3);
    const page = await installation.openAs(customer, 'deliveries');
    const rows = page.locator('.table .body [role=row]');
    const places = () =>
      page.evaluate<unknown>(`[...document.querySelectorAll('.table .body a')]
        .map((link) => [link.href, link.getBoundingClientRect().top])`);
    await rows.nth(1).hover();
    const before = await places();
    for (let n = 0; n < 2; n += 1) await installation.report(customer);
    const button = page.getByRole('button', { name: '2 new' });
    await button.waitFor();
    expect(await places()).toEqual(before);
    await button.click();
    await expect.poll(() => rows.count()).toBe(5);
    await installation.report(customer);
    await page.getByRole('button', { name: '1 new' }).waitFor();
    await page.mouse.move(1, 1);
    await expect.poll(() => rows.count()).toBe(6);

    await rows.nth(0).getByRole('link').focus();
    await installation.report(customer);
    await page.getByRole('button', { name: '1 new' }).waitFor();
    await page.keyboard.press('j');
    await expect.poll(() => page.locator(':focus').getAttribute('data-index')).toBe('1');
    expect(await rows.count()).toBe(6);
  });

  it('reports wrong filters of its address, and clears them', async () => {
    const page = await installation.openAs(customer, 'deliveries?status=slow');
    await page.getByText('Answer: “slow” is not one of the choices.').waitFor();
    await page.getByText('See the filters above.').waitFor();
    await page.goto(page.url().replace('status=slow', 'webhooksId=1'));
    await page.getByText('The address has a filter that does not work here: webhooksId.').waitFor();
    await page.getByRole('link', { name: 'Clear the filters' }).click();
    await page.getByText('There are no deliveries yet.').waitFor();
  });

  it('keeps filters in one line and shows 18 rows on a laptop', async () => {
    await insertDeliveries(await installation.aSubscription(customer), 30);
    const viewport = { width: 1280, height: 720 };
    const page = await installation.openAs(customer, 'deliveries', { viewport });
    await page.getByText('delivered').nth(20).waitFor();
    const boxOf = async (selector: string) => (await page.locator(selector).first().boundingBox())!;
    const head = await boxOf('.table .head');
    expect(head.y + head.height + 18 * 32).toBeLessThanOrEqual(viewport.height);
    expect((await boxOf('.table .body [role=row]')).height).toBe(32);
    expect((await boxOf('.filter-bar')).height).toBe(32);
    const [time, table] = [await boxOf('.chip.time'), await boxOf('.table')];
    expect(time.x + time.width).toBeCloseTo(table.x + table.width, 0);
    expect(await page.getByLabel('More filters').count()).toBe(0);

    await page.setViewportSize({ width: 920, height: 720 });
    const more = page.getByLabel('More filters');
    await more.waitFor();
    expect((await boxOf('.filter-bar')).height).toBe(32);
    expect(await page.getByLabel('Application', { exact: true }).count()).toBe(0);
    await more.selectOption('Application');
    await expect
      .poll(() => page.locator(':focus').getAttribute('aria-label'), { timeout: 10_000 })
      .toBe('Application');

    await page.setViewportSize({ width: 360, height: 720 });
    await more.waitFor({ state: 'detached' });
    expect((await boxOf('.chips')).height).toBeLessThan(48);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  });

  it('shows new deliveries live, and later changes in place', async () => {
    const page = await installation.openAs(customer, 'deliveries');
    await page.getByText('There are no deliveries yet.').waitFor();
    await installation.aSubscription(customer);
    await installation.report(customer);
    await page.locator('.pill', { hasText: 'delivered' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
  });

  it('shows deliveries that are created while it loads', async () => {
    await installation.aSubscription(customer);
    const page = await installation.openAs(customer, 'audit');
    const other = await installation.openAs(customer, 'deliveries');
    const succeededOn = (one: Page) => one.locator('.pill', { hasText: 'delivered' });
    await page.route(
      '**/v1/deliveries?*',
      async (route) => {
        const response = await route.fetch();
        // The stream sends every delivery to all pages: once one page shows the second, the others have received the
        // first.
        for (const count of [1, 2]) {
          await installation.report(customer);
          await succeededOn(other)
            .nth(count - 1)
            .waitFor();
        }
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: 'Deliveries' }).click();
    await expect.poll(() => succeededOn(page).count(), { timeout: 20_000 }).toBe(2);
  });

  it('scrolls through 10,000 rows, and holds back new ones', async () => {
    const webhook = await installation.aSubscription(customer);
    await insertDeliveries(webhook, 10_000);
    const page = await installation.openAs(customer, 'deliveries');
    await page.getByText('cdrCreated · call').first().waitFor();
    const rows = page.getByRole('table', { name: 'Deliveries' });
    // 50 pages are loaded near the end.
    await expect
      .poll(
        async () => {
          await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
          return rows.getAttribute('aria-rowcount');
        },
        { timeout: 60_000, interval: 50 },
      )
      .toBe('10001');
    expect(await page.getByRole('row').count()).toBeLessThan(100);
    await page.getByText('10,000 deliveries', { exact: true }).waitFor();

    const slowestFrame = await page.evaluate(`(async () => {
      let slowest = 0;
      let before = performance.now();
      for (let step = 0; step < 60; step += 1) {
        window.scrollBy(0, -5_000);
        await new Promise(requestAnimationFrame);
        slowest = Math.max(slowest, performance.now() - before);
        before = performance.now();
      }
      return slowest;
    })()`);
    // Rendering all rows at once would take seconds.
    expect(slowestFrame).toBeLessThan(1_000);

    const place = await page.evaluate('window.scrollY');
    await installation.report(customer);
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await page.evaluate('window.scrollY')).toBe(place);
    await page.getByRole('button', { name: '1 new' }).click();
    await expect.poll(() => rows.getAttribute('aria-rowcount')).toBe('10002');
  });

  it('loads the next page after one without matches', async () => {
    installation.receiver.answering = (_, response) => response.writeHead(410).end();
    await installation.aSubscription(customer);
    await installation.report(customer);
    await installation.delivery(customer, 'exhausted');
    // The API looks at this many for a page.
    await insertDeliveries(await installation.aSubscription(customer), 10_000);
    const first = await customer.client.get('/v1/deliveries?status=410');
    expect([first.text, first.headers['link']]).toEqual(['[]', expect.stringContaining('next')]);
    const page = await installation.openAs(customer, 'deliveries?status=410');
    await page.getByText('1 delivery', { exact: true }).waitFor();
  });

  it('works with the keyboard', async () => {
    await insertDeliveries(await installation.aSubscription(customer), 300);
    const page = await installation.openAs(customer, 'deliveries');
    await page.getByText('cdrCreated · call').first().waitFor();
    await page.getByRole('row').nth(1).getByRole('link').focus();
    for (let n = 0; n < 40; n += 1) await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.locator(':focus').getAttribute('data-index')).toBe('40');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Delivery' }).waitFor();
    // The next ones open in its place, and Escape closes it.
    await page.keyboard.press('j');
    await expect.poll(() => page.locator(':focus').getAttribute('data-index')).toBe('41');
    // Of all checkboxes in rows, only this row's is a stop.
    const labels = [/^Select delivery/, /^Select all shown/];
    for (const label of labels) {
      await page.keyboard.press('Shift+Tab');
      expect(await page.locator(':focus').getAttribute('aria-label')).toMatch(label);
    }
    for (let n = 0; n < labels.length; n += 1) await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  it('works with the keyboard after Ctrl-K, without a way through the toolbar', async () => {
    await insertDeliveries(await installation.aSubscription(customer), 30);
    const page = await installation.openAs(customer, 'deliveries');
    const arrive = async () => {
      await page.getByRole('navigation', { name: 'Pages' }).getByText('Audit log').click();
      await page.locator('h1:focus', { hasText: 'Audit log' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('deliveries');
      await page.keyboard.press('Enter');
      await page.locator('h1:focus', { hasText: 'Deliveries' }).waitFor();
      await page.getByText('cdrCreated · call').first().waitFor();
    };
    const focused = () => page.locator(':focus');
    const focusedRow = () => focused().getAttribute('data-index');
    await arrive();
    await page.keyboard.press('j');
    await expect.poll(focusedRow).toBe('0');
    await page.keyboard.press('j');
    await expect.poll(focusedRow).toBe('1');
    await page.keyboard.press('/');
    expect(await focused().getAttribute('aria-label')).toBe('Search deliveries');
    await page.keyboard.type('j?/');
    expect(await focused().inputValue()).toBe('j?/');
    // The first closes the suggestions, and the second leaves the field.
    for (let n = 0; n < 2; n += 1) await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keys' });
    await keys.getByText('Next and previous row').waitFor();
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });

    await arrive();
    await page.keyboard.press('Tab');
    expect(await focused().innerText()).toBe('Skip to the list');
    await page.keyboard.press('Enter');
    await expect.poll(focusedRow).toBe('0');
    await arrive();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Delivery' }).waitFor();
  });

  it('is printed whole: all rows, no toolbar, and no text that is cut off', async () => {
    const name = 'Down since the migration to the new data centre in the north';
    await insertDeliveries(await installation.aSubscription(customer, { name }), 90);
    // Of A4 in landscape, without margins.
    const options = { colorScheme: 'dark', viewport: { width: 1030, height: 700 } } as const;
    const page = await installation.openAs(customer, 'deliveries', options);
    await page.getByText('cdrCreated · call').first().waitFor();
    const rows = page.locator('.table .body [role=row]');
    expect(await rows.count()).toBeLessThan(90);
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    expect(await rows.count()).toBe(90);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    const visible = await page
      .locator('.side, .filter-bar, .heading > .actions, .refresh, input')
      .evaluateAll(
        (elements: { checkVisibility(): boolean }[]) =>
          elements.filter((one) => one.checkVisibility()).length,
      );
    expect(visible).toBe(0);
    const cut = await page.evaluate(`
      [...document.querySelectorAll('.table .line, .table [role=cell]')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)`);
    expect(cut).toEqual([]);
    const overlapping = await page.evaluate(`
      [...document.querySelectorAll('.table .body [role=row]')].filter((row) =>
        row.nextElementSibling &&
        row.getBoundingClientRect().bottom > row.nextElementSibling.getBoundingClientRect().top + 1,
      ).length`);
    expect(overlapping).toBe(0);
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await expect.poll(() => rows.count()).toBeLessThan(90);
  });

  it('steps through the rows beside the list, and keeps the open one in view', async () => {
    await insertDeliveries(await installation.aSubscription(customer), 300);
    const viewport = { width: 1440, height: 720 };
    const page = await installation.openAs(customer, 'deliveries', { viewport });
    await page.getByText('cdrCreated · call').first().waitFor();
    await page.getByRole('row').nth(18).getByRole('link').click();
    const panel = page.getByRole('complementary', { name: 'Delivery' });
    await panel.getByText('Your server accepted').waitFor();
    const openId = () => new URL(page.url()).searchParams.get('open');
    const inView = () =>
      page.evaluate(`(() => {
        const { top, bottom } = document.querySelector('[role=row].open').getBoundingClientRect();
        return top >= 0 && bottom <= window.innerHeight;
      })()`);
    await expect.poll(inView).toBe(true);
    const first = openId();
    for (let n = 0; n < 15; n += 1) await panel.getByRole('button', { name: 'Next' }).click();
    await expect.poll(inView).toBe(true);
    expect(openId()).not.toBe(first);
    for (let n = 0; n < 15; n += 1) await page.keyboard.press('k');
    await expect.poll(openId).toBe(first);
    await panel.getByRole('button', { name: 'Next' }).click();
    await panel.getByRole('button', { name: 'Previous' }).click();
    await expect.poll(openId).toBe(first);
    await panel.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Open as a page' }).click();
    await page.waitForURL(new RegExp(`deliveries/${first}$`));
  });

  it.each([1_100, 1_280, 1_400])('cuts off no text beside a panel at %i px', async (width) => {
    const name = 'Down since the migration';
    await insertDeliveries(await installation.aSubscription(customer, { name }), 3);
    const viewport = { width, height: 720 };
    const page = await installation.openAs(customer, 'deliveries', { viewport });
    await page.getByRole('row').nth(1).getByRole('link').click();
    await page.getByText('Your server accepted').waitFor();
    const cut = await page.evaluate(`
      [...document.querySelectorAll('.table .line, .table [role=cell], .panel h2, .attempts span')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1 && !one.closest('.hidden'))
        // The target of a checkbox is larger than the box.
        .filter((one) => !one.querySelector('input'))
        .map((one) => one.textContent)`);
    expect(cut).toEqual([]);
  });

  it('uses two lines per delivery on a phone, and cuts off no name', async () => {
    const name = 'Down since the migration';
    await insertDeliveries(await installation.aSubscription(customer, { name }), 3);
    const viewport = { width: 390, height: 844 };
    const page = await installation.openAs(customer, 'deliveries', { viewport });
    const link = page.getByRole('row').nth(1).getByRole('link');
    await expect
      .poll(() => link.innerText())
      .toMatch(new RegExp(`^${name}\\n\\d\\d:\\d\\d:\\d\\d · cdrCreated · call$`));
    const cut = await page.evaluate(`
      [...document.querySelectorAll('.table .line')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)`);
    expect(cut).toEqual([]);
  });

  it('shows the target without https:// if the name is unknown', async () => {
    const targetUrl = 'https://hooks.example.com/a';
    await insertDeliveries(await installation.aSubscription(customer, { targetUrl }), 1);
    const page = await installation.openAs(customer, 'deliveries');
    const target = page.getByRole('cell').getByText('hooks.example.com/a', { exact: true });
    expect(await target.getAttribute('title')).toBe(targetUrl);
  });

  it('tells that the open delivery is not in the rows', async () => {
    await installation.aSubscription(customer);
    await installation.report(customer);
    const { id } = await installation.delivery(customer, 'succeeded');
    const page = await installation.openAs(customer, `deliveries?open=${id}`);
    await page.locator('[role=row].open').waitFor();
    const note = page.getByText('The open delivery is not in the rows shown.');
    expect(await note.count()).toBe(0);
    await insertDeliveries(await installation.aSubscription(customer, { event: 'cdrRated' }), 1);
    await page.goto(`${page.url()}&event=cdrRated`);
    await note.waitFor();
    await page.getByRole('complementary', { name: 'Delivery' }).getByText('webhook-id').waitFor();
  });

  it('clears the selection when the filters change', async () => {
    await installation.aSubscription(customer);
    for (let n = 0; n < 2; n += 1) await installation.report(customer);
    const page = await installation.openAs(customer, 'deliveries?event=cdrCreated');
    await page.locator('.pill', { hasText: 'delivered' }).nth(1).waitFor();
    const all = page.getByLabel('Select all shown');
    await page
      .getByLabel(/^Select delivery/)
      .first()
      .check();
    expect(await all.isChecked()).toBe(false);
    await all.check();
    await page.getByRole('button', { name: 'Send 2 selected again' }).waitFor();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.waitForURL(/deliveries$/);
    await page.getByText('2 deliveries', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /selected (now|again)$/ }).count()).toBe(0);
    expect(await page.locator('input:checked').count()).toBe(0);
  });

  it('sends the selected deliveries, and reports the outcome', async () => {
    installation.receiver.answering = (_, response) => response.writeHead(410).end();
    await installation.aSubscription(customer);
    await installation.report(customer);
    await installation.delivery(customer, 'exhausted');
    installation.receiver.answering = (_, response) => response.end();
    await installation.aSubscription(customer);
    await installation.report(customer);
    const { id } = await installation.delivery(customer, 'succeeded');
    const before = installation.receiver.received.filter((one) => one.id === id).length;

    const page = await installation.openAs(customer, 'deliveries');
    await page.getByText('cdrCreated · call').first().waitFor();
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Send 2 selected again' }).click();
    await page.getByText('Sending 1 delivery again.').waitFor();
    // The 410 disabled the other delivery's subscription.
    await page.locator('.toasts .bad').waitFor();
    await installation.receiver.until(
      (received) => received.filter((one) => one.id === id).length === before + 1,
    );
  });

  it('sends deliveries that wait for their next attempt', async () => {
    installation.receiver.answering = (_, response) => response.writeHead(500).end();
    await installation.aSubscription(customer);
    await installation.report(customer);
    await installation.report(customer);
    const waiting = async () =>
      (await customer.client.get('/v1/deliveries?state=pending&status=500')).json<unknown[]>();
    await expect.poll(waiting).toHaveLength(2);
    installation.receiver.answering = (_, response) => response.end();
    const page = await installation.openAs(customer, 'deliveries');
    await page.getByText('cdrCreated · call').first().waitFor();
    await page.getByLabel('Select all shown').check();
    await page.getByRole('button', { name: 'Send 2 selected now' }).click();
    await page.getByText('Sending 2 deliveries now.').waitFor();
    await expect
      .poll(() => page.locator('[role=row] .pill').allInnerTexts())
      .toEqual(['delivered', 'delivered']);
  });
});

it('shows hostile texts as texts', async () => {
  const script =
    '<img src=x onerror="document.title=\'taken\'"><script>document.title="taken"</script>';
  const hostile = encodeURIComponent(`${script}\u202e${'x'.repeat(2_500)}`);
  const page = await installation.openAs(customer, `deliveries?event=${hostile}&state=${hostile}`);
  await page.getByText('Event: “<img src=x').waitFor();
  expect(await page.getByLabel('Event', { exact: true }).inputValue()).toContain(script);
  expect(await page.title()).toBe('Deliveries – Switchhook');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1_200);
});

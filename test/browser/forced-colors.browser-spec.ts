import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { accessibilityFaultsOf, ConsoleInstallation, type Customer } from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;

beforeAll(async () => {
  installation = await ConsoleInstallation.start();
  customer = await installation.aCustomer();
});
afterAll(() => installation.stop());
afterEach(() => installation.closePages());

const open = (path: string) =>
  installation.openAs(customer, path, { forcedColors: 'active', colorScheme: 'light' });

/** How an element, or what is drawn before it, looks without its size. */
const looks = (page: Page, selector: string, pseudo = '') =>
  page.evaluate<string[]>(`[...document.querySelectorAll('${selector}')].map((element) => {
    const { backgroundColor, borderTopStyle, borderRadius, rotate, height, appearance } =
      getComputedStyle(element, '${pseudo}' || undefined);
    const { color } = getComputedStyle(element);
    return [backgroundColor, borderTopStyle, borderRadius, rotate, height, appearance, color].join(' ');
  })`);

/** Adds an element for each class to the page. */
const add = (page: Page, classes: readonly string[]) =>
  page.evaluate(`${JSON.stringify(classes)}.forEach((name) => {
    const element = document.createElement('span');
    element.className = name + ' of-test';
    element.textContent = name;
    document.querySelector('main').append(element);
  })`);

it.each([
  ['pills', ['pill good', 'pill bad', 'pill waiting', 'pill neutral'], '::before'],
  ['dots', ['dot good', 'dot bad', 'dot waiting', 'dot neutral'], ''],
  ['states of the stream', ['stream live', 'stream unreachable', 'stream interrupted'], '::before'],
])('forced colours tell %s apart by their shape', async (_, classes, pseudo) => {
  const page = await open('audit');
  await add(page, classes);
  const shapes = await looks(page, '.of-test', pseudo);
  expect(new Set(shapes).size).toBe(classes.length);
});

it('forced colours tell what is chosen and ticked', async () => {
  const webhook = await installation.aSubscription(customer);
  const page = await open(`subscriptions/${webhook}?tab=settings`);
  await page.getByLabel('Target URL').waitFor();
  const chosen = await looks(page, '.tabs > [aria-current]');
  const others = await looks(page, '.tabs > :not([aria-current])');
  expect(chosen).toHaveLength(1);
  expect(others).not.toContain(chosen[0]);
  const [box] = await looks(page, 'input[type=checkbox]');
  expect(box).toContain('auto');

  // Those of the theme, in the closed menu.
  const [segment] = await looks(page, '.segments > [aria-pressed=true]');
  expect(segment).toBeDefined();
  expect(await looks(page, '.segments > [aria-pressed=false]')).not.toContain(segment);

  await installation.report(customer);
  await installation.delivery(customer, 'succeeded');
  await page.goto(`${installation.api.url}/console/overview`);
  await page.locator('.plot canvas').nth(1).waitFor();
  for (const kind of ['bars', 'lines']) {
    const legend = await looks(page, `[data-kind=${kind}] .legend li`, '::before');
    expect([kind, new Set(legend).size]).toEqual([kind, legend.length]);
  }
  // Gaps between dashes would be filled.
  for (const line of await looks(page, '[data-kind=lines] .legend li', '::before'))
    expect(line).toContain('rgba(0, 0, 0, 0)');
  expect(await accessibilityFaultsOf(page)).toEqual([]);

  const { id } = await installation.delivery(customer, 'succeeded');
  await page.goto(`${installation.api.url}/console/deliveries/${id}`);
  const attempt = '.attempts button[aria-pressed=true]';
  await page.locator(`${attempt} .code`).waitFor();
  const colours = await page.evaluate<string[]>(
    `[...document.querySelectorAll('${attempt}, ${attempt} :not(.hidden)')].map((one) => getComputedStyle(one).color)`,
  );
  expect(new Set(colours).size).toBe(1);
  const [code] = await looks(page, `${attempt} .code`);
  expect(code).toContain('rgba(0, 0, 0, 0)');
});

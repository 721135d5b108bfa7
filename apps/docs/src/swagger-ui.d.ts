/** The parts of Swagger UI that the reference uses; it has no types of its own. */
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  /** Of the library Immutable. */
  interface Collection<Value> {
    readonly size: number;
    filter(isKept: (value: Value, key: string) => boolean): this;
    map(change: (value: Value, key: string) => Value): this;
  }

  export interface Fields {
    get(name: 'operations'): Collection<Fields>;
    get(name: string): unknown;
    getIn(path: readonly string[]): unknown;
    set(name: 'operations', value: Collection<Fields>): this;
  }

  export type TaggedOperations = Collection<Fields>;

  /** The argument of a plugin. */
  export interface System {
    React: { createElement: typeof import('react').createElement };
  }

  const SwaggerUI: (options: {
    url: string;
    plugins: ((system: System) => object)[];
    [option: string]: unknown;
  }) => void;
  export default SwaggerUI;
}

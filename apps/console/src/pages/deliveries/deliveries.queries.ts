import { api, type Schemas } from '../../app/api.js';
import { type PagedList, pagedQuery } from '../../app/paged-query.js';

export type Delivery = Schemas['Delivery'];

/** The API's filters: see `GET /v1/deliveries`. */
export type DeliveryFilters = Record<string, string>;

export type DeliveryList = PagedList<Delivery>;

/** Matching deliveries, newest first. */
export const deliveriesQuery = (filters: DeliveryFilters) =>
  pagedQuery(['deliveries', filters], (page, signal) =>
    api.GET('/v1/deliveries', { params: { query: { ...filters, ...page } }, signal }),
  );

/** A URL without `https://`, which almost all have. */
export const withoutHttps = (url: string): string => url.replace(/^https:\/\//, '');

/** A URL in a list. The full URL is shown on hover. */
export function UrlText({ url }: { url: string }) {
  return (
    <bdi className="line mono" title={url}>
      {withoutHttps(url)}
    </bdi>
  );
}

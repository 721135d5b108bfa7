/** A URL without `https://`, with which almost all begin. */
export const withoutHttps = (url: string): string => url.replace(/^https:\/\//, '');

/** A URL in a list. The whole one is shown on hover. */
export function UrlText({ url }: { url: string }) {
  return (
    <bdi className="line mono" title={url}>
      {withoutHttps(url)}
    </bdi>
  );
}

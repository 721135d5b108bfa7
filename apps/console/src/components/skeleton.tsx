import '../styles/skeleton.css';

/** Placeholder for rows that are loading. */
export function SkeletonRows({ count = 12, rowHeight }: { count?: number; rowHeight: number }) {
  return (
    <div className="card skeleton" aria-hidden>
      {Array.from({ length: count }, (_, index) => (
        <div key={index} style={{ height: rowHeight }}>
          <span />
          <span />
          <span />
        </div>
      ))}
    </div>
  );
}

/** Placeholder for a page whose file is loading. */
export function SkeletonPage() {
  return (
    <>
      <div className="heading skeleton" aria-hidden>
        <span className="title" />
      </div>
      <SkeletonRows rowHeight={41} />
    </>
  );
}

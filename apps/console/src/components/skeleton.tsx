import '../styles/skeleton.css';

/** Where rows will be, while they are read. */
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

/** Where a page will be, while its file is loaded. */
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

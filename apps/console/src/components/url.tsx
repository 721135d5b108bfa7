/** A URL that breaks between its parts if it is longer than the line. */
export function Url({ text }: { text: string }) {
  return (
    <bdi className="mono">
      {text.split(/(?<=[/?&=._-])(?!\/)/).map((part, index) => (
        <span key={index}>
          {part}
          <wbr />
        </span>
      ))}
    </bdi>
  );
}

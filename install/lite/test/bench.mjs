// Runs the cells of bench.ipynb in the kernel for browsers, under Node, and prints what they print:
//	node --stack-size=8192 bench.mjs WASM_EXEC WASM
import { readFileSync } from "node:fs";
import { execute } from "./session.mjs";

const notebook = JSON.parse(readFileSync(new URL("bench.ipynb", import.meta.url), "utf8"));
for (const cell of notebook.cells) {
  const { status, evalue, text } = await execute([cell.source].flat().join(""));
  if (status !== "ok") { console.error(evalue); process.exit(1); }
  process.stdout.write(text);
}
process.exit(0);

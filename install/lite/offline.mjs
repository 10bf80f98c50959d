// Lets the site in a folder work without a network: node offline.mjs SITE extends its service worker. See offline.js.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const site = process.argv[2];
const worker = join(site, "service-worker.js");
const hash = (data) => createHash("sha256").update(data).digest("hex").slice(0, 16);
const files = {};
let rest;
for (const entry of readdirSync(site, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath ?? entry.path, entry.name);
  const name = path.slice(join(site, "/").length).split("\\").join("/");
  if (/^quern\/rest-/.test(name)) {
    rest = name;
  } else if (entry.isFile() && name !== "service-worker.js" && !/^quern\/quern\.wasm/.test(name)) {
    files[name] = hash(readFileSync(path));
  }
}
const own = readFileSync(new URL("offline.js", import.meta.url), "utf8");
const version = hash(JSON.stringify(files) + rest + own);
// JupyterLite's script defines names of its own.
writeFileSync(worker, `{\nconst SITE = ${JSON.stringify({ version, files, rest })};\n${own}}\n${readFileSync(worker, "utf8")}`);

// How a report looks: one column, system fonts, both colour schemes, paper.
#pragma once

namespace mckean::report {

// Colours of text and lines have a contrast of at least 4.5 and 3 to their background in both schemes.
inline constexpr char kStyle[] = R"css(
:root {
  color-scheme: light dark;
  --back: #ffffff; --ink: #1b1f24; --muted: #57606a; --rule: #d0d7de; --grid: #e6eaee; --soft: #f4f6f8;
  --link: #0b57a4; --alert: #8a3b00; --alert-back: #fff5e8;
  --c1: #0b62b5; --c2: #b3450a; --c3: #2d7a3e; --c4: #8a3fa8; --ref: #6b737c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171b; --ink: #e4e8ec; --muted: #a3adb8; --rule: #3a424b; --grid: #2a3037; --soft: #1d2228;
    --link: #86bdf5; --alert: #ffc583; --alert-back: #33260f;
    --c1: #6db3f8; --c2: #f59a63; --c3: #7bcf8c; --c4: #d09bea; --ref: #98a2ad;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 54rem; background: var(--back); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
}
header, nav, section > *, footer { max-width: 46rem; margin-left: auto; margin-right: auto; }
section > figure, section > .scroll { max-width: 54rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.35rem; line-height: 1.25; margin-top: 2.75rem; margin-bottom: .6rem; padding-top: .6rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1.05rem; margin-top: 1.5rem; margin-bottom: .3rem; }
p, ul, ol { margin-top: .6rem; margin-bottom: .6rem; }
a { color: var(--link); text-underline-offset: .15em; overflow-wrap: anywhere; }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: .5rem; background: var(--back); padding: .3rem .6rem; }
header p, .note, figcaption { color: var(--muted); }
.note, figcaption { font-size: .9rem; }
nav ol { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; padding: 0; list-style: none; font-size: .92rem; }
code { font: .9em/1.4 ui-monospace, "Liberation Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
pre { background: var(--soft); border: 1px solid var(--rule); border-radius: 4px; padding: .75rem; overflow-x: auto; }
pre code { overflow-wrap: normal; font-size: .82rem; }
.warning, .warnings li { background: var(--alert-back); border-left: 4px solid var(--alert); padding: .5rem .8rem; }
.warnings { list-style: none; padding: 0; }
.warnings li { margin-bottom: .5rem; }
.warnings strong { font-weight: 600; color: var(--alert); overflow-wrap: anywhere; }
.scroll, .formula { overflow-x: auto; }
.formula { padding: .3rem 0; }
math { font-size: 1.12rem; }
table { border-collapse: collapse; margin: 1rem auto; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--muted); padding-bottom: .3rem; }
th, td { padding: .28rem .7rem; text-align: right; border-bottom: 1px solid var(--rule); vertical-align: top; white-space: nowrap; }
thead th { border-bottom: 2px solid var(--muted); white-space: normal; vertical-align: bottom; }
tbody th { font-weight: normal; }
th.text, td.text { text-align: left; }
td.text { overflow-wrap: anywhere; white-space: normal; }
figure { margin: 1rem auto; }
.charts { display: grid; grid-template-columns: 1fr 1fr; gap: 1.2rem 1.5rem; }
.chart { grid-column: 1 / -1; min-width: 0; }
.chart.half { grid-column: auto; }
.chart.half:only-child { grid-column: 1 / -1; max-width: 27rem; width: 100%; margin: 0 auto; }
.chart .title { margin: 0; font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; list-style: none; margin: .1rem 0 .3rem; padding: 0; font-size: .85rem; color: var(--muted); }
.swatch { display: inline-block; width: 1.3rem; height: 0; margin-right: .4rem; vertical-align: middle; border-top: 2.5px solid; }
.swatch.area { height: .75rem; border: 0; background: currentColor; opacity: .3; }
.swatch.deep { opacity: .55; }
.swatch.dot { width: .5rem; height: .5rem; border: 0; border-radius: 50%; background: currentColor; }
.swatch.c1 { color: var(--c1); } .swatch.c2 { color: var(--c2); } .swatch.c3 { color: var(--c3); }
.swatch.c4 { color: var(--c4); } .swatch.ref { color: var(--ref); border-top-style: dashed; }
.swatch.line.c2 { border-top-style: dashed; } .swatch.line.c3 { border-top-style: dotted; } .swatch.line.c4 { border-top-style: double; }
svg { display: block; width: 100%; height: auto; }
svg.narrow { display: none; }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; fill: var(--muted); }
svg .mid { text-anchor: middle; } svg .end { text-anchor: end; }
svg .name { fill: var(--ink); }
svg path { fill: none; vector-effect: non-scaling-stroke; }
svg .grid { stroke: var(--grid); stroke-width: 1; }
svg .axis { stroke: var(--muted); stroke-width: 1; }
svg .line { stroke-width: 2; stroke-linejoin: round; }
svg .dot { stroke-width: 5; stroke-linecap: round; }
svg .c1 { stroke: var(--c1); } svg .c2 { stroke: var(--c2); } svg .c3 { stroke: var(--c3); } svg .c4 { stroke: var(--c4); }
svg .ref { stroke: var(--ref); stroke-dasharray: 5 4; stroke-width: 1.5; }
svg .dot.ref { stroke-dasharray: none; stroke-width: 3; }
svg .line.c2 { stroke-dasharray: 8 3; } svg .line.c3 { stroke-dasharray: 2 3; } svg .line.c4 { stroke-dasharray: 9 3 2 3; }
svg .area { stroke: none; fill-opacity: .22; }
svg .area.c1 { fill: var(--c1); } svg .area.c2 { fill: var(--c2); }
svg .hover { fill: transparent; }
svg .hover:hover { fill: var(--ink); fill-opacity: .06; }
.log { font-size: .85rem; overflow-wrap: anywhere; }
.log time { color: var(--muted); }
summary { cursor: pointer; }
footer { margin-top: 3rem; color: var(--muted); font-size: .85rem; }
@media (max-width: 40rem) {
  .charts { grid-template-columns: 1fr; }
  svg.wide { display: none; } svg.narrow { display: block; }
  table { font-size: .82rem; }
  th, td { padding: .28rem .35rem; }
}
@media print {
  :root { color-scheme: light; --back: #fff; --ink: #000; --muted: #444; --rule: #bbb; --grid: #ddd; --soft: #f6f6f6;
    --link: #000; --alert: #6b2e00; --alert-back: #fff; --c1: #0b62b5; --c2: #b3450a; --c3: #2d7a3e; --c4: #8a3fa8; --ref: #666; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav, .skip { display: none; }
  figure, .chart, table, pre, .formula { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  pre code { white-space: pre-wrap; }
}
)css";
}  // namespace mckean::report

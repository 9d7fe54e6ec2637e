#include "scenarios/report/html/page.h"

#include <string>
#include <string_view>

namespace adamant::scenarios {

namespace {

constexpr std::string_view light =
    ":root{--page:#fff;--text:#1c2430;--muted:#596373;--line:#d8dde5;--card:#f5f7f9;"
    "--link:#0b57a8;--bad:#b3261e;--good:#1b6e3c;--warn:#855300;--bad-fill:#fde4e1;"
    "--kernel:#d9e6fb;--copy:#d5efe8;--group:#e9def7;--call:#e9ecf1;--span:#f4f0e2;"
    "--wait:#2f6fbf;--faint:#a9b2bf}\n";

constexpr std::string_view dark =
    ":root{--page:#15181d;--text:#e4e8ee;--muted:#a3adbb;--line:#353d48;--card:#1d222a;"
    "--link:#8fbcff;--bad:#ff8f86;--good:#7fd99b;--warn:#f0b95c;--bad-fill:#4a211e;"
    "--kernel:#243c61;--copy:#1d4a40;--group:#43305f;--call:#2d343e;--span:#38331f;"
    "--wait:#7eb0f2;--faint:#6a7482}\n";

constexpr std::string_view rules = R"(*{box-sizing:border-box}
html{background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","DejaVu Sans",sans-serif;-webkit-text-size-adjust:100%}
body{max-width:1180px;margin:0 auto;padding:24px 20px 64px;overflow-wrap:anywhere}
code,pre,svg text,td.n,.law{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.875em}
pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:10px 12px;margin:8px 0;overflow-x:auto;white-space:pre-wrap;line-height:1.45}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
h1{font-size:1.75rem;line-height:1.25;margin:0 0 4px}
h2{font-size:1.25rem;margin:0;line-height:1.3}
h3{font-size:1rem;margin:24px 0 4px}
h4{font-size:.9375rem;margin:0 0 6px}
h4 em{font-style:normal;font-weight:400}
p{margin:4px 0}
small{display:block;color:var(--muted);font-size:.8125rem}
section{border-top:1px solid var(--line);margin-top:36px;padding-top:20px}
summary{cursor:pointer;font-weight:600;margin-top:20px}
.facts,.note,figcaption,footer{color:var(--muted);font-size:.875rem}
.law{color:var(--bad);font-size:1rem;margin-right:6px}
.what{font-size:1.0625rem;white-space:pre-line}
.badge{display:inline-block;border:1px solid;border-radius:99px;padding:0 9px;font-size:.8125rem;font-weight:600}
.good{color:var(--good)}
.bad{color:var(--bad)}
.tag{color:var(--warn);font-weight:600}
.alert{border:1px solid var(--warn);color:var(--warn);border-radius:6px;padding:8px 12px;margin:12px 0}
.missing{border-left:3px solid var(--bad);padding:2px 0 2px 10px;margin:10px 0}
.missing b{color:var(--bad)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:12px;margin:10px 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:12px 14px;min-width:0}
h4 .n{display:inline-block;background:var(--bad);color:var(--page);border-radius:99px;width:1.5em;line-height:1.5em;text-align:center;font-size:.8125rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 12px;margin:0;font-size:.875rem}
dt{color:var(--muted)}
dd{margin:0;min-width:0}
pre.src{margin:2px 0 4px;padding:2px 8px;font-size:.8125rem}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;margin:10px 0;font-size:.875rem}
th,td{text-align:left;vertical-align:top;padding:5px 16px 5px 0;border-bottom:1px solid var(--line);font-weight:400;overflow-wrap:normal}
thead th{color:var(--muted);white-space:nowrap}
tr.actual td,tr.actual th{color:var(--bad)}
.values td{white-space:nowrap}
.values code{white-space:pre}
mark{background:var(--bad-fill);color:inherit;font-weight:700}
.index{width:100%}
.index td:first-child{overflow-wrap:break-word;min-width:min(24em,60vw)}
td.n,th.n{text-align:right;white-space:nowrap}
figure{margin:14px 0}
svg{display:block}
svg text{font-size:11px;fill:var(--text)}
svg rect{fill:var(--page);stroke:var(--faint)}
svg .k rect{fill:var(--kernel)}
svg .y rect{fill:var(--copy)}
svg .c rect{fill:var(--group)}
svg .h rect{fill:var(--call)}
svg .o rect{fill:var(--span)}
svg .m rect{fill:var(--bad-fill);stroke:var(--bad);stroke-width:2}
svg .u rect{stroke-dasharray:4 3}
svg .n circle{fill:var(--bad)}
svg .n text{fill:var(--page);text-anchor:middle;font-weight:700}
svg .r{stroke:var(--line)}
svg .a{stroke:var(--line);stroke-dasharray:1 3}
svg .e,svg .w,svg .x,svg .l{fill:none;stroke-width:1.25}
svg path.e{stroke:var(--faint)}
svg path.w{stroke:var(--wait)}
svg path.l{stroke:var(--muted);stroke-dasharray:1 3}
svg path.x{stroke:var(--bad);stroke-width:2.25;stroke-dasharray:6 4}
svg text.x{fill:var(--bad);text-anchor:middle;stroke:var(--page);stroke-width:4px;paint-order:stroke;font-weight:600}
svg text.g{fill:var(--muted);text-anchor:middle}
svg text.s{text-anchor:start}
svg text.t{fill:var(--muted)}
svg text.g.e{text-anchor:end}
svg.bar rect{fill:var(--wait);stroke:none}
svg.bar{background:var(--card);margin-top:6px}
svg.curve path.w{stroke-width:2}
svg.curve circle{fill:var(--bad)}
sup{line-height:0}
ul{margin:6px 0;padding-left:20px;font-size:.875rem;columns:2 320px}
.key{margin-right:10px;white-space:nowrap;color:var(--text)}
.key::before{content:"";display:inline-block;width:22px;margin-right:5px;vertical-align:middle;border-top:2px solid var(--faint)}
.key.w::before{border-color:var(--wait)}
.key.x::before{border-top:2px dashed var(--bad)}
.key.u::before{height:10px;border:1px dashed var(--faint)}
@media(max-width:600px){body{padding:16px 12px 48px}h1{font-size:1.375rem}dl{grid-template-columns:1fr}dt{margin-top:4px}th,td{padding-right:10px}section{display:flex;flex-direction:column}section>*{order:2}section>h2{order:0}section>article{order:1}.index thead{display:none}.index tr{display:flex;flex-wrap:wrap;border-bottom:1px solid var(--line)}.index td{border:0}.index td.l{order:-1;flex-basis:100%}}
@media print{body{max-width:none;padding:0}pre,.card,figure,tr{break-inside:avoid}.scroll{overflow:visible}svg{max-width:100%;height:auto}}
)";

}  // namespace

std::string style_sheet() {
  std::string sheet(light);
  sheet.append("@media screen and (prefers-color-scheme:dark){").append(dark).append("}\n");
  return sheet.append(rules);
}

}  // namespace adamant::scenarios

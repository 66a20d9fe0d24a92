/** HTML that would show a person one mail to approve and the recipient another. */

/** 2 by 1 pixels: red and blue. */
export const OWN_PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR42mP4z8DAAMQACf4B/5Fvz0IAAAAASUVORK5CYII=";

/** @param url of a host that must not hear of anything */
export const hostileDrafts = (url: string): Record<string, string> => ({
  "media print":
    `<style>@media print{.a{display:none}}@media screen{.b{display:none}}</style><p class=a>a<p class=b>b`,
  "media width":
    `<style>@media (max-width:700px){.a{display:none}}@media (min-width:701px){.b{display:none}}</style><p class=a>a<p class=b>b`,
  "media colour scheme": `<style>@media (prefers-color-scheme:dark){p{color:#fff}}</style><p>a`,
  "compound selectors":
    `<style>p.a.b,p[class~=c]:not(.d),div>p+p{display:none}</style><p class="a b">a<p class=c>b<div><p>c<p>d</div>`,
  "hover": `<style>p{opacity:0}p:hover{opacity:1}</style><p>a</p><div>b</div>`,
  "generated words": `<style>p::before{content:"not "}p::after{content:" ever"}</style><p>I agree`,
  "first letter": `<style>p::first-letter,p::first-line{font-size:0}</style><p>a b`,
  "has and is":
    `<style>p:has(b){display:none}:is(p,i):where(.x){display:none}</style><p><b>a</b><p class=x>b`,
  "layers":
    `<style>@layer x{p{display:block}}@supports (display:grid){p{display:none}}@container (width>0){p{color:#fff}}</style><p>a`,
  "imported":
    `<style>@import url(${url}/a.css);@font-face{font-family:x;src:url(${url}/f)}p{font-family:x}</style><p>a`,
  "custom properties": `<p style="--c:#fff;color:var(--c)">a</p><p style="color:var(--x,#fff)">b`,
  "escapes in styles":
    `<p style="d\\69splay:none">a</p><p style="display:\\6eone">b</p><p style="col\\6fr:#fff">c`,
  "comments in styles":
    `<p style="dis/**/play:none;display/**/:/**/none">a</p><p style="color:/*x*/#fff">b`,
  "broken styles":
    `<p style="color:red;;}{display:none">a</p><p style="font-family:'x;color:#fff">b</p><p style='content:";color:#fff"'>c`,
  "expressions":
    `<p style="width:expression(alert(1));behavior:url(${url}/x);-moz-binding:url(${url}/y)">a`,
  "overlay":
    `<div style="position:absolute;top:0;left:0;width:100%;height:100%;background:#fff">Over</div><p>Under`,
  "fixed": `<div style="position:fixed;inset:0;background:#fff;z-index:9">Over</div><p>Under`,
  "floats": `<div style="float:left;width:1px;margin-right:-300px">a</div><p>b`,
  "negative margins":
    `<p>a</p><p style="margin-top:-40px;background:#fff">b</p><p style="margin:-1em 0 0 -9999px">c`,
  "transforms":
    `<p style="transform:translateX(-9999px)">a</p><p style="transform:scale(0)">b</p><p style="rotate:90deg;translate:0 -99px">c`,
  "clipped":
    `<div style="height:1em;overflow:hidden">a<br>b<br>c</div><p style="clip-path:inset(50%)">d`,
  "columns": `<div style="columns:50;height:1px">a b c d e f g h</div>`,
  "indent": `<p style="text-indent:-9999px">a</p><p style="text-indent:9999px">b<p>c`,
  "no line height":
    `<p style="line-height:0">a<br>b<br>c</p><p style="font-size:48px;line-height:1px">d<br>e`,
  "lengths handed on":
    `<div style="line-height:10px;font-size:10px"><span style="font-size:48px">a<br>b</span></div>`,
  "narrow boxes":
    `<table><tr><td><div style="width:1px;white-space:nowrap">Secretsecretsecret</div><td><span style="background:#fff">over it`,
  "narrow cells":
    `<table style="table-layout:fixed;width:20px"><tr><td style="max-width:1px">Secretsecretsecret<td style="background:#fff">over`,
  "pushed out of cells":
    `<table><tr><td><img src="cid:own@example" style="width:100%;margin-left:64px;padding-left:64px">a<td>b b b`,
  "nested tables":
    `<table><tr><td><table width="100%" style="margin-left:60px"><tr><td>aaaaaaaaaa</table><td>b`,
  "overlapping cells":
    `<table border=1><tr><td>a<td rowspan=3>bbbbbb<td>c<tr><td colspan=3>dddddddddd<tr><td>e</table>`,
  "huge spans":
    `<table><tr><td colspan=65535 rowspan=65535>a<td>b<tr><td colspan=1000>c<td rowspan=0>d</table>`,
  "white on white":
    `<p>a<span style="color:#fff">b</span><font color=white>c</font><span style="color:rgba(0,0,0,.01)">d`,
  "nearly white":
    `<p style="color:#f2f2f2">a</p><p style="color:hsl(0 0% 93%)">b</p><p style="color:lab(95% 0 0)">c`,
  "white on a lost picture":
    `<div style="background:url(${url}/b.png);color:#fff">a</div><table background="${url}/b.png"><tr><td style="color:#fff">b`,
  "white on a lost gradient":
    `<div style="background:linear-gradient(#000,#000);color:#fff">a<p>b</div>`,
  "colours of old tables":
    `<div style="background:#000;color:#fff"><table><tr><td>a</table></div><div style="background:#fff;color:#000">b`,
  "followed links":
    `<style>a:visited{color:#fff}</style><div style="background:#551a8b;color:#fff"><a href="${url}/v">a</a></div><div style="background:#00e"><a href="${url}/w">b</a> c</div>`,
  "small letters":
    `<p style="font-size:3px">a</p><p style="font-size:.1em">b</p><font size=1>c</font><p style="font:1px/1 serif">d`,
  "smaller and smaller":
    `<small><small><small><small><small><small><small>a</small></small></small></small></small></small></small><sub><sub><sub><sub><sub><sub>b`,
  "larger and larger": `<h1>a<span><h1>b<div><h1>c<div><h1>d<big><big><big>e`,
  "letters as pictures":
    `<p style="font-family:Wingdings,Webdings,Symbol">a</p><p style="font-family:'Adobe Blank'">b`,
  "wide gaps": `<pre>a${" ".repeat(3_000)}b</pre><p>c${"&nbsp;".repeat(3_000)}d${
    "&#12288;".repeat(900)
  }e`,
  "direction": `<p dir=rtl>a (b) c!</p><bdo dir=rtl>d e f</bdo><p>g\u202eh\u202ci \u2066j`,
  "invisible characters":
    `<p>a\u200b\u200b\u200b\u{e0049}\u{e0047}b\u200b<i>\u200b</i>c&#xfeff;&#xfeff;d&zwj;&zwnj;`,
  "conditional comments":
    `<!--[if mso]><p>Outlook reads this</p><![endif]--><![if !mso]><p>a</p><![endif]><!--[if !mso]><!--><p>b</p><!--<![endif]-->`,
  "odd comments":
    `<!--><p>a</p>--><!--x--!><p>b</p><!-- --><? php ?><p>c</p></ bogus><p>d</p><![CDATA[<p>e]]>`,
  "svg":
    `<svg width=9 height=9><text>a</text><foreignObject><p>b</foreignObject><image href="${url}/i"/><style>p{display:none}</style></svg><p>c`,
  "math":
    `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=${url}/m onerror=x()&gt;"></math>a`,
  "mutation":
    `<form><math><mtext></form><form><mglyph><style></math><img src onerror=x()></style>a</form>`,
  "noscript":
    `<noscript><p title="</noscript><img src=${url}/n onerror=x()>">a</noscript><noscript><style>p{display:none}</style>b</noscript><div>c</div>`,
  "details": `<details><summary>a</summary>b</details><dialog>c</dialog><dialog open>d</dialog>`,
  "refresh and base":
    `<meta http-equiv=refresh content="0;url=${url}/r"><base href="${url}/" target=_top><p><a href="x">a</a>`,
  "frames":
    `<iframe srcdoc="<p>a</p>"></iframe><iframe src="${url}/f">b</iframe><frameset><frame src="${url}/g"></frameset>c`,
  "plaintext": `<p>a</p><plaintext><p style="display:none">b</p>`,
  "raw texts":
    `<xmp><b>a</b></xmp><listing>\nb</listing><textarea>\n<i>c</i></textarea><title>d</title><noembed>e</noembed>`,
  "templates":
    `<template><p>a</p></template><p>b</p><template shadowrootmode=open><slot></slot></template>`,
  "forms":
    `<form action="${url}/f"><input value=a><input type=hidden value=b><button>c</button><select><option>d<option selected>e</select><label>f</label><meter value=.5>g</meter></form>`,
  "objects":
    `<object data="${url}/o">a</object><embed src="${url}/e"><applet code=x>b</applet><video src="${url}/v" autoplay>c</video><audio controls>d</audio><canvas>e</canvas>`,
  "links to other places":
    `<a href="javascript:x()">a</a><a href="data:text/html,b">b</a><a href=" java\nscript:x()">c</a><a href="//e.example">d</a><a href="${url}/e" ping="${url}/p" target=_top>e</a>`,
  "links in links":
    `<a href="https://one.example">a<a href="https://two.example">b</a>c</a><a href="https://three.example"><table><tr><td><a href="https://four.example">d`,
  "remote pictures":
    `<img src="${url}/1.gif" width=1 height=1><img srcset="${url}/2.png 2x" src="${url}/3.png" alt="Three"><picture><source srcset="${url}/4"><img src="${url}/5"></picture><input type=image src="${url}/6">`,
  "own pictures":
    `<img src="cid:own@example" width=200 height=100 alt="Own"><img src="CID:own@example" style="vertical-align:middle;width:40px"><img src="cid:other@example" alt="Of others"><img src="cid:twice@example" alt="Two">`,
  "pictures in addresses":
    `<img src="data:image/png;base64,${OWN_PICTURE}"><img src="data:image/svg+xml,<svg/>"><img src="blob:x"><img src="/v1/limits"><img src="file:///etc/passwd">a`,
  "pictures over text":
    `<p>Under</p><img src="cid:own@example" align=left hspace=-50 width=300 height=200 style="margin-top:-60px;float:left"><p>Text`,
  "foster parents":
    `<table>a<tr>b<td>c</td>d</tr>e<p>f</p></table>g<table><tr><p>h<td>i</table><b><table><tr><td>j</b>k</table>`,
  "wrong nesting":
    `<b>1<p>2</b>3</p><i>4<div>5</i>6</div></p></p><p>7<table><tr><td>8</p>9</table></table></td>10`,
  "many unclosed":
    `<font><b><i><u><s><a href="https://e.example"><div><p><b><i>a<p>b<p>c<li>d<li>e<dd>f<dt>g`,
  "lists":
    `<ol start=99999999999><li value=3>a<li style="list-style:none inside">b</ol><ul style="list-style-image:url(${url}/l);padding:0"><li>c<ul><li>d</ul></ul>`,
  "deep": `${"<div>".repeat(3_000)}<p>a</p>${"<blockquote>".repeat(300)}b`,
  "hidden attributes":
    `<p hidden>a</p><p aria-hidden=true>b</p><p inert>c</p><p popover>d</p><p contenteditable translate=no is=x>e`,
  "entities":
    `&lt;p style=display:none&gt;a&lt;/p&gt; &amp;lt;b&amp;gt; &#60;i&#62; &nbsp;&#0;&#x80;&#13;&notin; &notit;`,
  "quirks":
    `<!doctype html public "-//W3C//DTD HTML 3.2//EN"><body bgcolor=black text=white link=black><p>a<table><tr><td>b <a href="https://e.example">c</a></table>`,
  "standards":
    `<!doctype html><html><body style="color:#fff;background:#222"><h1>a</h1><p>b</p><table><tr><td>c`,
  "animation":
    `<style>@keyframes k{to{opacity:0}}p{animation:k 1s forwards}</style><p>a</p><marquee>b</marquee><blink>c</blink><p style="transition:all 1s;opacity:.1">d`,
  "filters":
    `<p style="filter:opacity(0)">a</p><p style="mix-blend-mode:difference">b</p><p style="mask:url(${url}/m)">c</p><p style="-webkit-text-fill-color:#fff">d</p><p style="-webkit-text-security:disc">e`,
  "struck and replaced":
    `<p>Pay <del>100</del> <ins>900</ins> <strike>1</strike> <span style="text-decoration:line-through">2</span> <ruby>3<rt>4</ruby>`,
});

/**
 * 200 mails as programs write them: 20 contents, each in 10 frames. Where what the relay gives is not
 * what a browser's innerText is, the reason stands beside it.
 */

export interface RenderedMail {
  name: string;
  html: string;
  /** Why innerText has words that the relay does not give; they are UNSEEN. */
  reason?: string;
}

/** In what a person does not see, and innerText has all the same. */
export const UNSEEN = "unseenword";

const CONTENTS: Readonly<Record<string, string>> = {
  "a code":
    `<p>Hello Sam,</p><p>Your code is <b>48 29 13</b>.</p><p>It expires in 10&nbsp;minutes.</p>`,
  "a code in cells":
    `<table align=center><tr><td>Your code:</td></tr><tr><td><table><tr><td>4</td><td>8</td><td>2</td><td>9</td></tr></table></td></tr></table>`,
  "a receipt":
    `<h2>Receipt 4711</h2><table border=1><thead><tr><th>Item<th>Sum</thead><tbody><tr><td>Tea<td>3.00<tr><td>Milk<td>1.20</tbody><tfoot><tr><td>All<td><strong>4.20</strong></tfoot></table>`,
  "a newsletter":
    `<center><table width=600><tr><td><a href="https://a.test/view">View in browser</a></td></tr><tr><td><h1>News of May</h1><p>First story. <a href="https://a.test/1">Read on</a></p><hr><p>Second story. <a href="https://a.test/2">Read on</a></p></td></tr><tr><td><small>&copy; 2026 Northwind &middot; <a href="https://a.test/u">Unsubscribe</a></small></td></tr></table></center>`,
  "a list":
    `<p>To do:</p><ul><li>tea<li>milk<ol start=3><li>full<li value=7>half</ol><li><p>oats</p></ul><p>Bye</p>`,
  "a definition list": `<dl><dt>Term<dd>What it means<dt>Other<dd>Something else</dl>`,
  "an answer with a quote":
    `<div dir=ltr>Tuesday is fine.<br><br></div><div class=gmail_quote><div class=gmail_attr>On Mon, Ann wrote:<br></div><blockquote class=gmail_quote style="margin:0 0 0 .8ex"><div>When do we meet?</div></blockquote></div>`,
  "a forwarded mail":
    `<div>For you.</div><hr><div id=divRplyFwdMsg><font face=Calibri><b>From:</b> Ann &lt;ann@a.test&gt;<br><b>Sent:</b> Friday<br><b>To:</b> Bo<br><b>Subject:</b> plan</font></div><div>Here it is.</div>`,
  "preformatted text": `<p>Log:</p><pre>one   two\n  three\n\nfour</pre><p>Done.</p>`,
  "pictures with words":
    `<a href="https://a.test/shop"><img src="cid:a" alt="Shop now" width=200 height=50></a><p>Or <img src="cid:b" alt="call us" width=40 height=20> today.</p>`,
  "line breaks and white space": `Dear   Bo,<br>\n  this is<br><br>all\t\tthere   is.<br/>Regards`,
  "entities":
    `<p>&lt;b&gt; is bold &amp; &quot;quoted&quot; &#8364;5 &#x2603; caf&eacute; &nbsp; end</p>`,
  "several scripts":
    `<p>日本語のメール</p><p dir=rtl>שלום עולם</p><p>Привет, мир</p><p>e\u0301te\u0301</p>`,
  "inline blocks":
    `<span style="display:block">one</span><div style="display:inline">two </div><b>three</b><span style="display:inline-block">four</span>`,
  "headings and rules": `<h1>One</h1>text<h2>Two</h2>text<hr>more<h3>Three</h3>`,
  "forms":
    `<form><fieldset><legend>Vote</legend><label>Yes <input type=radio></label><label>No <input type=radio></label></fieldset></form>`,
  "a button of tables":
    `<table role=presentation cellpadding=0><tr><td bgcolor="#0055aa" style="padding:9px"><a href="https://a.test/go" style="color:#ffffff;text-decoration:none"><span style="color:#fff">Confirm</span></a></td></tr></table>`,
  "dark cells":
    `<table bgcolor="#111111" width=100%><tr><td><font color="#eeeeee">Light on dark</font></td></tr><tr><td style="background:#fff;color:#333">Dark on light</td></tr></table>`,
  "wrong nesting":
    `<p><b>bold<p>still bold</b> plain</p><i>one<div>two</i>three</div><table><tr><td>in</table>out<ul><li>item</ul>`,
  "details and ruby":
    `<details open><summary>More</summary><p>inside</p></details><ruby>漢<rt>kan</rt></ruby> end`,
};

interface Frame {
  html: (content: string) => string;
  reason?: string;
}

const P = `<p>${UNSEEN}</p>`;
const FRAMES: Readonly<Record<string, Frame>> = {
  "alone": { html: (content) => content },
  "a whole document": {
    html: (content) =>
      `<!DOCTYPE html><html><head><title>title</title><meta charset=utf-8><style>p{margin:0} a{color:#00c}</style></head><body>${content}</body></html>`,
  },
  "an old document": {
    html: (content) =>
      `<HTML><HEAD><TITLE>t</TITLE></HEAD><BODY BGCOLOR=white TEXT="#000000"><DIV>${content}</DIV></BODY></HTML>`,
  },
  "XHTML with comments of Outlook": {
    html: (content) =>
      `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd"><html xmlns="http://www.w3.org/1999/xhtml"><head><!--[if mso]><style>p{color:red}</style><![endif]--></head><body><!--[if mso]><table><tr><td>${UNSEEN}<![endif]--><div>${content}</div><!--[if mso]></td></tr></table><![endif]--><![if !mso]><p>shown</p><![endif]></body></html>`,
  },
  "a hidden preheader": {
    html: (content) =>
      `<body><div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${UNSEEN} &zwnj;&nbsp;&zwnj;&nbsp;</div>${content}</body>`,
  },
  "rules of many kinds": {
    html: (content) =>
      `<head><style>.o > .h, div.a.b, [data-h="1"], p + .n, .z:not(p){display:none} @media screen and (min-width:1px){.m{display:none!important}} @media print{p{display:none}} .q:hover{display:none}</style></head><body><div class=o><p class=h>${UNSEEN}</p></div><div class="a b">${UNSEEN}</div><span data-h=1>${UNSEEN}</span><p>and</p><div class=n>${UNSEEN}</div><div class=z>${UNSEEN}</div><div class=m>${UNSEEN}</div>${content}<p class=q>end</p></body>`,
  },
  "elements that are not shown": {
    html: (content) =>
      `<body>${content}<template>${UNSEEN}</template><dialog>${UNSEEN}</dialog><div hidden>${UNSEEN}</div><script>"${UNSEEN}"</script><video>${UNSEEN}</video><details><summary>sum</summary>${UNSEEN}</details><noscript>no script</noscript></body>`,
  },
  "visibility": {
    html: (content) =>
      `<body><div style="visibility:hidden">${UNSEEN} <span style="visibility:visible">seen</span></div><div>${content}</div></body>`,
  },
  "colours": {
    html: (content) =>
      `<body>${content}<div style="color:#fefefe">${UNSEEN}</div><font color="#ffffffffffff">${UNSEEN}</font><p style="color:oklch(99% 0 0)">${UNSEEN}</p></body>`,
    reason: "innerText does not look at colours: the words stand white on white",
  },
  "size and place": {
    html: (content) =>
      `<body><div style="font-size:1px">${UNSEEN}</div><div style="opacity:.04">${UNSEEN}</div><div style="position:absolute;left:99999px">${UNSEEN}</div><div style="height:1px;overflow:hidden">${P}</div><div style="position:absolute;clip:rect(0,0,0,0)">${UNSEEN}</div><div style="text-indent:-9999px">${UNSEEN}</div>${content}</body>`,
    reason:
      "innerText does not look at size, place and clipping: the words are too small, or elsewhere",
  },
};

export const RENDERED_MAILS: readonly RenderedMail[] = Object.entries(FRAMES).flatMap((
  [frame, { html, reason }],
) =>
  Object.entries(CONTENTS).map(([content, inside]) => ({
    name: `${content}, ${frame}`,
    html: html(inside),
    ...(reason === undefined ? {} : { reason }),
  }))
);

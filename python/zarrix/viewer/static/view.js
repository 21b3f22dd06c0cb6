// node_modules/preact/dist/preact.mjs
var n;
var t;
var r;
var u;
var i;
var f;
var o;
var e;
var l;
var c;
var a;
var s;
var h = /* @__PURE__ */ Symbol.for("pv");
var p = {};
var y = [];
var v = /^m(i|n|o|s|text|space)$/;
var w = Array.isArray;
var d = y.slice;
var _ = Object.assign;
function g(n3) {
  n3 && n3.parentNode && n3.remove();
}
function k(n3, t4, r4) {
  var u4, i4, f5, o5 = {}, e4 = arguments.length;
  for (f5 in t4) "key" == f5 ? u4 = t4[f5] : "ref" == f5 && "function" != typeof n3 ? i4 = t4[f5] : o5[f5] = t4[f5];
  return e4 > 2 && (o5.children = e4 > 3 ? d.call(arguments, 2) : r4), m(n3, o5, u4, i4, null);
}
function m(r4, u4, i4, f5, o5) {
  var e4 = { type: r4, props: u4, key: i4, ref: f5, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: h, __v: o5 || ++t, __i: -1, __u: 0 };
  return !o5 && n.vnode && n.vnode(e4), e4;
}
function $(n3) {
  return n3.children;
}
function x(n3, t4) {
  this.props = n3, this.context = t4, this.__g = 0;
}
function S(n3, t4) {
  if (null == t4) return n3.__ && S(n3.__, n3.__i + 1);
  for (var r4; t4 < n3.__k.length; t4++) if ((r4 = n3.__k[t4]) && r4.__e) return r4.__e;
  return "function" != typeof n3.type || n3.props.__P ? null : S(n3);
}
function C(t4) {
  var r4, u4 = t4.__v, i4 = u4.__e, f5 = [], o5 = [], e4 = t4.__P;
  e4 && ((r4 = _({ constructor: h }, u4)).__v = u4.__v + 1, n.vnode && n.vnode(r4), z(e4, r4, u4, t4.__n, e4.namespaceURI, 32 & u4.__u ? [i4] : null, f5, i4 || S(u4), 32 & u4.__u, o5), r4.__v = u4.__v, r4.__.__k[r4.__i] = r4, E(f5, r4, o5), u4.__ = u4.__e = null, r4.__e != i4 && j(r4));
}
function j(n3) {
  if ((n3 = n3.__) && n3.__c && !n3.props.__P) return n3.__e = null, n3.__k.some(function(t4) {
    return t4 && (n3.__e = t4.__e);
  }), j(n3);
}
function L(t4) {
  (8 & t4.__g || (t4.__g |= 8, u.push(t4), f++)) && i == n.debounceRendering || ((i = n.debounceRendering) || queueMicrotask)(H);
}
function H() {
  try {
    for (var n3, t4 = 1; u.length; ) u.length > t4 && u.sort(o), n3 = u.shift(), t4 = u.length, 8 & n3.__g && C(n3);
  } finally {
    (f = u.length) && (i || queueMicrotask)(H);
  }
}
function I(n3, t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, h5, v4, w5, d4, _4, g5 = u4.__k || y, k4 = t4.length;
  for (l4 = q(r4, t4, g5, l4, k4), s4 = 0; s4 < k4; s4++) null != (v4 = r4.__k[s4]) && (h5 = ~v4.__i && g5[v4.__i] || p, v4.__i = s4, _4 = z(n3, v4, h5, i4, f5, o5, e4, l4, c4, a5), w5 = v4.__e, (h5.ref != v4.ref || 8 & h5.__u) && (h5.ref && G(h5.ref, null, v4, h5), v4.ref && a5.push(v4.ref, v4.__c || w5, v4)), d4 = d4 || w5, 4 & v4.__u ? (l4 = A(v4, l4, n3, !h5.__v), h5.__e && (h5.__e = null)) : "function" == typeof v4.type && void 0 !== _4 ? l4 = _4 : w5 && (l4 = w5.nextSibling), v4.__u &= -21);
  return r4.__e = d4, l4;
}
function q(n3, t4, r4, u4, i4) {
  var f5, o5, e4, l4, c4, a5, s4, p5, y5, v4 = r4.length, d4 = v4, _4 = 0, g5 = 0, k4 = n3.__k = Array(i4);
  for (f5 = 0; f5 < i4; f5++) null != (o5 = t4[f5]) && "boolean" != typeof o5 && "function" != typeof o5 ? ("object" != typeof o5 || o5.constructor === String ? o5 = k4[f5] = m(null, o5) : w(o5) ? o5 = k4[f5] = m($, { children: o5 }) : o5.constructor === h && o5.__b ? o5 = k4[f5] = m(o5.type, o5.props, o5.key, o5.ref, o5.__v) : k4[f5] = o5, l4 = f5 + _4, o5.__ = n3, o5.__b = n3.__b + 1, e4 = null, ~(c4 = o5.__i = P(o5, r4, l4, d4)) && (d4--, (e4 = r4[c4]) && (e4.__u |= 2)), e4 && e4.__v ? (o5.__u |= 16, c4 == l4 - 1 ? _4-- : c4 == l4 + 1 ? _4++ : c4 != l4 && (c4 > l4 ? _4-- : _4++, g5 = 1)) : (~c4 || (i4 > v4 ? _4-- : i4 < v4 && _4++), "function" != typeof o5.type && (o5.__u |= 4))) : k4[f5] = null;
  if (g5) {
    for (a5 = [], s4 = [], f5 = 0; f5 < i4; f5++) if ((o5 = k4[f5]) && 16 & o5.__u) {
      for (_4 = 0, p5 = a5.length; _4 < p5; ) a5[y5 = _4 + p5 >> 1] < o5.__i ? _4 = y5 + 1 : p5 = y5;
      a5[_4] = o5.__i, s4[f5] = _4 + 1;
    }
    for (_4 = a5.length; f5--; ) s4[f5] && (s4[f5] == _4 ? _4-- : k4[f5].__u |= 4);
  }
  if (d4) for (f5 = 0; f5 < v4; f5++) !(e4 = r4[f5]) || 2 & e4.__u || (e4.__e == u4 && (u4 = S(e4)), J(e4, e4));
  return u4;
}
function A(n3, t4, r4, u4) {
  var i4, f5, o5, e4;
  if ("function" == typeof n3.type) {
    if (n3.props.__P) return t4;
    if (i4 = n3.__k) for (f5 = 0; f5 < i4.length; f5++) i4[f5] && (i4[f5].__ = n3, t4 = A(i4[f5], t4, r4, false));
    return t4;
  }
  for (t4 && !t4.parentNode && (t4 = S(n3)) && !t4.parentNode && (t4 = null), o5 = n3.__e, e4 = t4; e4 && 8 == e4.nodeType; ) e4 = e4.nextSibling;
  for (o5 != e4 && (!u4 && r4.moveBefore && o5.parentNode ? r4.moveBefore(o5, t4) : r4.insertBefore(o5, t4 || null)), t4 = o5; (t4 = t4 && t4.nextSibling) && 8 == t4.nodeType && !t4.data.startsWith("$s"); ) ;
  return t4;
}
function P(n3, t4, r4, u4) {
  var i4, f5 = n3.key, o5 = n3.type, e4 = t4[r4], l4 = e4 && !(2 & e4.__u);
  if (null === e4 && null == f5 || l4 && f5 == e4.key && o5 == e4.type) return r4;
  if (u4 > (l4 ? 1 : 0)) {
    for (i4 = r4 - 1; i4 >= 0; i4--) if ((e4 = t4[i4]) && !(2 & e4.__u) && f5 == e4.key && o5 == e4.type) return i4;
    for (i4 = r4 + 1; i4 < t4.length; i4++) if ((e4 = t4[i4]) && !(2 & e4.__u) && f5 == e4.key && o5 == e4.type) return i4;
  }
  return -1;
}
function T(n3, t4, r4) {
  null == r4 && (r4 = ""), "-" == t4[0] ? n3.setProperty(t4, r4) : n3[t4] = r4;
}
function N(n3, t4, r4, u4, i4) {
  var f5, o5;
  if ("style" == t4) if ("string" == typeof r4) n3.style.cssText = r4;
  else {
    if ("string" == typeof u4 && (n3.style.cssText = u4 = ""), u4) for (t4 in u4) r4 && t4 in r4 || T(n3.style, t4);
    if (r4) for (t4 in r4) u4 && r4[t4] == u4[t4] || T(n3.style, t4, r4[t4]);
  }
  else if ("o" == t4[0] && "n" == t4[1]) "function" != typeof r4 && (r4 = null), "function" != typeof u4 && (u4 = null), (n3.__e || (n3.__e = {}))[t4] = r4, r4 && u4 || (o5 = a[t4] || (a[t4] = V(t4)), (n3.__a || (n3.__a = {}))[t4] = c, f5 = t4 != (t4 = t4.replace(l, "$1")), (t4 = t4.slice(2))[0] < "a" && (t4 = t4.toLowerCase()), r4 ? n3.addEventListener(t4, o5, f5) : n3.removeEventListener(t4, o5, f5));
  else {
    if ("http://www.w3.org/2000/svg" == i4) t4 = t4.replace(/xlink(H|:h)/, "h").replace(/sName$/, "s");
    else if ("width" != t4 && "height" != t4 && "href" != t4 && "list" != t4 && "form" != t4 && "tabIndex" != t4 && "download" != t4 && "rowSpan" != t4 && "colSpan" != t4 && "role" != t4 && "popover" != t4 && t4 in n3) try {
      return void (n3[t4] = null == r4 ? "" : r4);
    } catch (n4) {
    }
    if ("function" == typeof r4) return;
    null == r4 || false === r4 && "-" != t4[4] ? n3.removeAttribute(t4) : n3.setAttribute(t4, "popover" == t4 && 1 == r4 ? "" : r4);
  }
}
function V(t4) {
  return function(r4) {
    var u4 = this.__e;
    if (u4) {
      if (u4 = u4[t4], null == r4[e]) r4[e] = c++;
      else if (r4[e] < this.__a[t4]) return;
      return u4(n.event ? n.event(r4) : r4);
    }
  };
}
function z(t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, p5, v4, d4, k4, b3, m5, M3, C3, j3, L2, H2, q2, A4, O2, P2, T4, N2, V2 = r4.type;
  if (r4.constructor !== h) return null;
  128 & u4.__u && (c4 = 32 & u4.__u, s4 = u4.__c.__z) && (r4.__u |= c4, p5 = o5 = [], 8 == s4.nodeType ? l4 = B(s4, o5) : o5.push(s4), l4 = o5[0] || l4), (s4 = n.__b) && s4(r4);
  n: if ("function" == typeof V2) {
    v4 = e4.length;
    try {
      if (M3 = r4.props, C3 = (s4 = V2.prototype) && s4.render, j3 = (s4 = V2.contextType) && i4[s4.__c], L2 = s4 ? j3 ? j3.props.value : s4.__ : i4, (d4 = u4.__c) ? (r4.__c = d4, 2 & d4.__g && (d4.__g |= 1)) : (C3 ? r4.__c = d4 = new V2(M3, L2) : (r4.__c = d4 = new x(M3, L2), d4.constructor = V2, d4.render = K), j3 && j3.sub(d4), d4.state || (d4.state = {}), d4.__n = i4, d4.__g |= 8, d4.__h = [], d4.__k = []), C3 && (d4.__s || (d4.__s = d4.state), V2.getDerivedStateFromProps && (d4.__s == d4.state && (d4.__s = _({}, d4.__s)), _(d4.__s, V2.getDerivedStateFromProps(M3, d4.__s)))), k4 = d4.props, b3 = d4.state, d4.__v = r4, u4.__c) {
        if (M3 !== k4 && C3 && !V2.getDerivedStateFromProps && d4.componentWillReceiveProps && d4.componentWillReceiveProps(M3, L2), r4.__v == u4.__v && !(8 & d4.__g) || !(4 & d4.__g) && d4.shouldComponentUpdate && false === d4.shouldComponentUpdate(M3, d4.__s, L2)) {
          r4.__v != u4.__v && (d4.props = M3, d4.state = d4.__s, d4.__g &= -9), r4.__e = u4.__e, r4.__k = u4.__k, r4.__k.some(function(n3) {
            n3 && (n3.__ = r4);
          }), y.push.apply(d4.__h, d4.__k), d4.__k = [], d4.__h.length && e4.push(d4), l4 = S(u4);
          break n;
        }
        d4.componentWillUpdate && d4.componentWillUpdate(M3, d4.__s, L2), C3 && d4.componentDidUpdate && d4.__h.push(function() {
          d4.componentDidUpdate(k4, b3, m5);
        });
      } else C3 && !V2.getDerivedStateFromProps && d4.componentWillMount && d4.componentWillMount(), C3 && d4.componentDidMount && d4.__h.push(d4.componentDidMount);
      d4.context = L2, d4.props = M3, d4.__P = t4, d4.__g &= -5, H2 = n.__r, q2 = C3 ? 25 : 0;
      do {
        d4.__g &= -9, H2 && H2(r4), s4 = d4.render(d4.props, d4.state = d4.__s, d4.context);
      } while (8 & d4.__g && ++q2 < 25);
      C3 && (y.push.apply(d4.__h, d4.__k), d4.__k = []), d4.state = d4.__s, d4.getChildContext && (i4 = _({}, i4, d4.getChildContext())), C3 && u4.__c && d4.getSnapshotBeforeUpdate && (m5 = d4.getSnapshotBeforeUpdate(k4, b3)), A4 = s4 && s4.type === $ && null == s4.key ? s4.props.children : s4, M3.__P && (s4 = l4, f5 = (t4 = M3.__P).namespaceURI, c4 = o5 = null, u4.props && u4.props.__P != t4 && (u4.__k.some(function(n3) {
        n3 && J(n3, n3);
      }), u4.__k = null), l4 = u4.__k ? S(u4, 0) : null), l4 = I(t4, w(A4) ? A4 : [A4], r4, u4, i4, f5, o5, e4, l4, c4, a5), M3.__P && (r4.__e = null, l4 = s4), r4.__u &= -161, p5 && p5.some(g), d4.__h.length && e4.push(d4), 1 & d4.__g && (d4.__g &= -4);
    } catch (t5) {
      if (e4.length = v4, r4.__v = null, c4 || o5) if (t5 && t5.then) {
        if (r4.__u |= 128 | c4, o5) {
          for (~(T4 = o5.indexOf(l4 || void 0)) || (T4 = o5.length); (N2 = o5[T4 - 1]) && 8 == N2.nodeType; ) T4--;
          for (; T4 < o5.length; T4++) if (N2 = o5[T4]) if (o5[T4] = null, O2) {
            if (N2 == P2) break;
          } else {
            if (8 != N2.nodeType) break;
            N2.data.startsWith("$s") && (P2 = B(O2 = N2));
          }
        }
        if (!O2) {
          for (; l4 && 8 == l4.nodeType && l4.nextSibling; ) l4 = l4.nextSibling;
          O2 = l4;
        }
        (s4 = B(O2 = r4.__c.__z || (r4.__c.__z = O2))) ? (r4.__e = O2, l4 = s4) : r4.__e = l4, l4 = l4 && l4.nextSibling;
      } else o5 && o5.some(g);
      else r4.__e = u4.__e;
      r4.__k || (r4.__k = u4.__k || []), t5 && t5.then || D(r4), n.__e(t5, r4, u4);
    }
  } else l4 = r4.__e = F(u4.__e, r4, u4, i4, f5, o5, e4, c4, a5, t4);
  return (s4 = n.diffed) && s4(r4), l4;
}
function B(n3, t4) {
  if (n3 && 8 == n3.nodeType && n3.data.startsWith("$s")) for (var r4 = 1; n3 = n3.nextSibling; ) {
    if (8 == n3.nodeType) {
      if (n3.data.startsWith("$s")) r4++;
      else if (n3.data.startsWith("/$s") && !--r4) return n3;
    }
    t4 && t4.push(n3);
  }
}
function D(n3) {
  n3 && (n3.__c && (n3.__c.__g |= 4), n3.__k && n3.__k.some(D));
}
function E(t4, r4, u4) {
  for (var i4 = 0; i4 < u4.length; ) G(u4[i4++], u4[i4++], u4[i4++]);
  n.__c && n.__c(r4, t4), t4.some(function(r5) {
    try {
      t4 = r5.__h, r5.__h = [], t4.some(function(n3) {
        n3.call(r5);
      });
    } catch (t5) {
      n.__e(t5, r5.__v);
    }
  });
}
function F(t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, h5, y5, _4, k4, b3, m5, M3, $2 = u4.props || p, x3 = r4.props, C3 = r4.type;
  if ("svg" == C3 ? f5 = "http://www.w3.org/2000/svg" : "math" == C3 ? f5 = "http://www.w3.org/1998/Math/MathML" : f5 || (f5 = "http://www.w3.org/1999/xhtml"), o5) {
    for (s4 = 0; s4 < o5.length; s4++) if ((k4 = o5[s4]) && (C3 ? k4.localName == C3 : 3 == k4.nodeType)) {
      t4 = k4, o5[s4] = null;
      break;
    }
  }
  if (!t4) {
    if (M3 = a5.ownerDocument || document, !C3) return M3.createTextNode(x3);
    t4 = M3.createElementNS(f5, C3, x3.is ? x3 : a5), l4 && (n.__m && n.__m(r4, o5), l4 = false), o5 = null;
  }
  if (C3) {
    if (a5 = "template" == C3 && t4.content || t4, o5 = "textarea" == C3 && null != x3.defaultValue ? null : o5 && d.call(a5.childNodes), !l4 && o5) for ($2 = {}, s4 = 0; s4 < t4.attributes.length; s4++) $2[(k4 = t4.attributes[s4]).name] = k4.value;
    for (s4 in $2) k4 = $2[s4], "dangerouslySetInnerHTML" == s4 ? y5 = k4 : "children" == s4 || s4 in x3 || "value" == s4 && "defaultValue" in x3 || "checked" == s4 && "defaultChecked" in x3 || N(t4, s4, null, k4, f5);
    for (s4 in x3) k4 = x3[s4], "children" == s4 ? _4 = k4 : "dangerouslySetInnerHTML" == s4 ? h5 = k4 : "value" == s4 ? b3 = k4 : "checked" == s4 ? m5 = k4 : l4 && "function" != typeof k4 || $2[s4] === k4 || N(t4, s4, k4, $2[s4], f5);
    h5 ? (l4 || y5 && (h5.__html == y5.__html || h5.__html == t4.innerHTML) || (t4.innerHTML = h5.__html), r4.__k = []) : (y5 && (t4.textContent = ""), ("foreignObject" == C3 || "http://www.w3.org/1998/Math/MathML" == f5 && v.test(C3)) && (f5 = "http://www.w3.org/1999/xhtml"), I(a5, w(_4) ? _4 : [_4], r4, u4, i4, f5, o5, e4, o5 ? o5[0] : u4.__k && S(u4, 0), l4, c4), o5 && o5.some(g)), l4 && "textarea" != C3 || (s4 = "value", "progress" == C3 && null == b3 ? t4.removeAttribute(s4) : null == b3 || b3 === t4[s4] && ("progress" != C3 || b3) || N(t4, s4, b3, $2[s4], f5), s4 = "checked", null != m5 && m5 != t4[s4] && N(t4, s4, m5, $2[s4], f5));
  } else $2 === x3 || l4 && t4.data == x3 || (t4.data = x3);
  return t4;
}
function G(t4, r4, u4, i4) {
  try {
    "function" == typeof t4 ? r4 ? r4.__x = t4(r4) || 1 : i4 && (i4 = i4.__c || i4.__e) && (r4 = i4.__x) && (i4.__x = null, "function" == typeof r4 ? r4() : t4(null)) : t4.current = r4;
  } catch (t5) {
    n.__e(t5, u4);
  }
}
function J(t4, r4, u4) {
  var i4, f5, o5, e4;
  if (n.unmount && n.unmount(t4), !(i4 = t4.ref) || i4.current && i4.current != t4.__e || G(i4, null, r4, t4), i4 = t4.__c) {
    if (i4.componentWillUnmount) try {
      i4.componentWillUnmount();
    } catch (t5) {
      n.__e(t5, r4);
    }
    i4.__P = i4.__n = null;
  }
  if (i4 = t4.__k) for (e4 = 0; e4 < i4.length; e4++) i4[e4] && J(i4[e4], r4, "function" != typeof t4.type || u4 && !t4.props.__P);
  !u4 && (i4 = t4.__c) && (i4 = i4.__z) && (f5 = B(i4, o5 = [])) && (i4 == t4.__e && o5.some(g), g(f5), g(i4)), u4 || g(t4.__e), t4.__e = t4.__c = t4.__ = null;
}
function K(n3, t4, r4) {
  return this.constructor(n3, r4);
}
function Q(t4, r4) {
  var u4, i4, f5, o5;
  n.__ && n.__(t4, r4), 9 == r4.nodeType && (r4 = r4.documentElement), i4 = (u4 = t4 && 32 & t4.__u) ? null : r4.__k, r4.__k = m($, { children: [t4] }), f5 = [], o5 = [], z(r4, r4.__k, i4 || p, p, r4.namespaceURI, i4 ? null : r4.firstChild ? d.call(r4.childNodes) : null, f5, i4 ? i4.__e : r4.firstChild, u4, o5), E(f5, r4.__k, o5), r4.__k.props.children = null;
}
n = { __e: function(n3, t4, r4, u4) {
  for (var i4, o5, e4; t4 = t4.__; ) if ((i4 = t4.__c) && !(1 & i4.__g)) {
    i4.__g |= 4;
    try {
      if ((e4 = (o5 = i4.constructor) && o5.getDerivedStateFromError) && i4.setState(o5.getDerivedStateFromError(n3)), i4.componentDidCatch && (i4.componentDidCatch(n3, u4 || {}), e4 = 1), e4 && 8 & i4.__g) return void (i4.__g |= 2);
    } catch (t5) {
      n3 = t5;
    }
  }
  throw f = 0, n3;
} }, t = 0, r = function(n3) {
  return null != n3 && n3.constructor === h;
}, x.prototype.setState = function(n3, t4) {
  var r4 = this.__s;
  r4 && r4 != this.state || (r4 = this.__s = _({}, this.state)), "function" == typeof n3 && (n3 = n3(_({}, r4), this.props)), n3 && (_(r4, n3), this.__v && (t4 && this.__k.push(t4), L(this)));
}, x.prototype.forceUpdate = function(n3) {
  this.__v && (this.__g |= 4, n3 && this.__h.push(n3), L(this));
}, x.prototype.render = $, u = [], f = 0, o = function(n3, t4) {
  return n3.__v.__b - t4.__v.__b;
}, e = /* @__PURE__ */ Symbol(), l = /(PointerCapture)$|Capture$/i, c = 0, a = {}, s = 0;

// node_modules/preact/hooks/dist/hooks.mjs
var t2;
var r2;
var u2;
var i2;
var o2 = Object.is;
var f2 = 0;
var c2 = [];
var e2 = [];
var a2 = n;
var v2 = a2.__b;
var l2 = a2.__r;
var m2 = a2.diffed;
var h2 = a2.__c;
var s2 = a2.unmount;
var p2 = a2.__;
function y2(n3, t4) {
  a2.__h && a2.__h(r2, n3, f2 || t4), f2 = 0;
  var u4 = r2.__H || (r2.__H = { __: [], __h: [] });
  return n3 >= u4.__.length && u4.__.push({}), u4.__[n3];
}
function A2(n3, u4) {
  var i4 = y2(t2++, 3);
  !a2.__s && E2(i4.__H, u4) && (i4.__P = true, i4.__ = n3, i4.u = u4, r2.__H.__h.push(i4));
}
function T2(n3) {
  return f2 = 5, w2(function() {
    return { current: n3 };
  }, []);
}
function w2(n3, r4) {
  var u4 = y2(t2++, 7);
  return E2(u4.__H, r4) && (u4.__ = n3(), u4.__H = r4), u4.__;
}
function g2() {
  var n3;
  do {
    for (; n3 = e2.shift(); ) try {
      C2(n3);
    } catch (t5) {
      a2.__e(t5, { __: (n3 = n3.__P) && n3.__v });
    }
    for (; n3 = c2.shift(); ) {
      var t4 = n3.__H;
      if (n3.__P && t4) try {
        t4.__h.some(C2), t4.__h.some(D2), t4.__h = [];
      } catch (r4) {
        t4.__h = [], a2.__e(r4, n3.__v);
      }
    }
  } while (e2.length);
}
a2.__b = function(n3) {
  r2 = null, v2 && v2(n3);
}, a2.__ = function(n3, t4) {
  n3 && t4.__k && t4.__k.__m && (n3.__m = t4.__k.__m), p2 && p2(n3, t4);
}, a2.__r = function(n3) {
  l2 && l2(n3), t2 = 0;
  var i4 = (r2 = n3.__c).__H;
  i4 && (u2 == r2 ? r2.__h = [] : (i4.__h.some(C2), i4.__h.some(D2), t2 = 0), i4.__h = [], i4.__.some(function(n4) {
    n4.__N && (n4.__ = n4.__N), n4.u = n4.__N = void 0;
  })), u2 = r2;
}, a2.diffed = function(n3) {
  m2 && m2(n3);
  var t4 = n3.__c;
  t4 && t4.__H && (t4.__H.__h.length && B2(c2.push(t4)), t4.__H.__.some(function(n4) {
    n4.u && (n4.__H = n4.u);
  })), u2 = r2 = null;
}, a2.__c = function(n3, t4) {
  t4.some(function(n4) {
    try {
      n4.__h.some(C2), n4.__h = n4.__h.filter(function(n5) {
        return !n5.__ || D2(n5);
      });
    } catch (t5) {
      n4.__h = [function() {
        throw t5;
      }];
    }
  }), h2 && h2(n3, t4);
}, a2.unmount = function(n3) {
  s2 && s2(n3);
  var t4, r4, u4 = n3.__c;
  u4 && u4.__H && (u4.__H.__.some(function(u5) {
    try {
      if (u5.__P && u5.__c) {
        if (void 0 === r4) {
          for (r4 = n3.__; r4 && (!r4.__c || !r4.__c.__P); ) r4 = r4.__;
          r4 = r4 && r4.__c;
        }
        u5.__P = r4, B2(e2.push(u5));
      } else C2(u5);
    } catch (n4) {
      t4 = n4;
    }
  }), u4.__H = void 0, t4 && a2.__e(t4, u4.__v));
};
var k2 = "function" == typeof requestAnimationFrame;
function z2(n3) {
  var t4, r4 = function() {
    clearTimeout(u4), k2 && cancelAnimationFrame(t4), setTimeout(n3);
  }, u4 = setTimeout(r4, 35);
  k2 && (t4 = requestAnimationFrame(r4));
}
function B2(n3) {
  1 != n3 && i2 == a2.requestAnimationFrame || ((i2 = a2.requestAnimationFrame) || z2)(g2);
}
function C2(n3) {
  var t4 = r2, u4 = n3.__c;
  "function" == typeof u4 && (n3.__c = void 0, u4()), r2 = t4;
}
function D2(n3) {
  var t4 = r2;
  n3.__c = n3.__(), r2 = t4;
}
function E2(n3, t4) {
  return !n3 || n3.length != t4.length || t4.some(function(t5, r4) {
    return !o2(t5, n3[r4]);
  });
}

// node_modules/@preact/signals-core/dist/signals-core.module.js
var i3 = /* @__PURE__ */ Symbol.for("preact-signals");
function t3() {
  if (!(v3 > 1)) {
    var i4, t4 = false;
    !(function() {
      var i5 = c3;
      c3 = void 0;
      while (void 0 !== i5) {
        var t5 = i5.S;
        if (t5.v === i5.v) {
          for (var r5 = t5.t; void 0 !== r5; r5 = r5.x) if (r5.i === i5.i) r5.i = t5.i;
        }
        i5 = i5.o;
      }
    })();
    while (void 0 !== h3) {
      var r4 = h3;
      h3 = void 0;
      s3++;
      while (void 0 !== r4) {
        var n3 = r4.u;
        r4.u = void 0;
        r4.f &= -3;
        if (!(8 & r4.f) && w3(r4)) try {
          r4.c();
        } catch (r5) {
          if (!t4) {
            i4 = r5;
            t4 = true;
          }
        }
        r4 = n3;
      }
    }
    s3 = 0;
    v3--;
    if (t4) throw i4;
  } else v3--;
}
function r3(i4) {
  if (v3 > 0) return i4();
  u3 = ++e3;
  v3++;
  try {
    return i4();
  } finally {
    t3();
  }
}
var n2;
var o3 = void 0;
function f3(i4) {
  var t4 = o3, r4 = n2;
  o3 = void 0;
  n2 = void 0;
  try {
    return i4();
  } finally {
    o3 = t4;
    n2 = r4;
  }
}
var h3 = void 0;
var v3 = 0;
var s3 = 0;
var e3 = 0;
var u3 = 0;
var c3 = void 0;
var a3 = 0;
function d2(i4) {
  if (void 0 !== o3) {
    var t4 = i4.n;
    if (void 0 === t4 || t4.t !== o3) {
      t4 = { i: 0, S: i4, p: o3.s, n: void 0, t: o3, e: void 0, x: void 0, r: t4 };
      if (void 0 !== o3.s) o3.s.n = t4;
      o3.s = t4;
      i4.n = t4;
      if (32 & o3.f) i4.S(t4);
      return t4;
    } else if (-1 === t4.i) {
      t4.i = 0;
      if (void 0 !== t4.n) {
        t4.n.p = t4.p;
        if (void 0 !== t4.p) t4.p.n = t4.n;
        t4.p = o3.s;
        t4.n = void 0;
        o3.s.n = t4;
        o3.s = t4;
      }
      return t4;
    }
  }
}
function l3(i4, t4) {
  this.v = i4;
  this.i = 0;
  this.n = void 0;
  this.t = void 0;
  this.l = 0;
  this.W = null == t4 ? void 0 : t4.watched;
  this.Z = null == t4 ? void 0 : t4.unwatched;
  this.name = null == t4 ? void 0 : t4.name;
}
l3.prototype.brand = i3;
l3.prototype.h = function() {
  return true;
};
l3.prototype.S = function(i4) {
  var t4 = this, r4 = this.t;
  if (r4 !== i4 && void 0 === i4.e) {
    i4.x = r4;
    this.t = i4;
    if (void 0 !== r4) r4.e = i4;
    else f3(function() {
      var i5;
      null == (i5 = t4.W) || i5.call(t4);
    });
  }
};
l3.prototype.U = function(i4) {
  var t4 = this;
  if (void 0 !== this.t) {
    var r4 = i4.e, n3 = i4.x;
    if (void 0 !== r4) {
      r4.x = n3;
      i4.e = void 0;
    }
    if (void 0 !== n3) {
      n3.e = r4;
      i4.x = void 0;
    }
    if (i4 === this.t) {
      this.t = n3;
      if (void 0 === n3) f3(function() {
        var i5;
        null == (i5 = t4.Z) || i5.call(t4);
      });
    }
  }
};
l3.prototype.subscribe = function(i4) {
  var t4 = this;
  return x2(function() {
    var r4 = t4.value;
    f3(function() {
      return i4(r4);
    });
  }, { name: "sub" });
};
l3.prototype.valueOf = function() {
  return this.value;
};
l3.prototype.toString = function() {
  return this.value + "";
};
l3.prototype.toJSON = function() {
  return this.value;
};
l3.prototype.peek = function() {
  var i4 = this;
  return f3(function() {
    return i4.value;
  });
};
Object.defineProperty(l3.prototype, "value", { get: function() {
  var i4 = d2(this);
  if (void 0 !== i4) i4.i = this.i;
  return this.v;
}, set: function(i4) {
  if (i4 !== this.v) {
    if (s3 > 100) throw new Error("Cycle detected");
    !(function(i5) {
      if (0 !== v3 && 0 === s3) {
        if (i5.l !== u3) {
          i5.l = u3;
          c3 = { S: i5, v: i5.v, i: i5.i, o: c3 };
        }
      }
    })(this);
    this.v = i4;
    this.i++;
    a3++;
    v3++;
    try {
      for (var r4 = this.t; void 0 !== r4; r4 = r4.x) r4.t.N();
    } finally {
      t3();
    }
  }
} });
function y3(i4, t4) {
  return new l3(i4, t4);
}
function w3(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) if (t4.S.i !== t4.i || !t4.S.h() || t4.S.i !== t4.i) return true;
  return false;
}
function b(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) {
    var r4 = t4.S.n;
    if (void 0 !== r4) t4.r = r4;
    t4.S.n = t4;
    t4.i = -1;
    if (void 0 === t4.n) {
      i4.s = t4;
      break;
    }
  }
}
function _2(i4) {
  var t4 = i4.s, r4 = void 0;
  while (void 0 !== t4) {
    var n3 = t4.p;
    if (-1 === t4.i) {
      t4.S.U(t4);
      if (void 0 !== n3) n3.n = t4.n;
      if (void 0 !== t4.n) t4.n.p = n3;
    } else r4 = t4;
    t4.S.n = t4.r;
    if (void 0 !== t4.r) t4.r = void 0;
    t4 = n3;
  }
  i4.s = r4;
}
function j2(i4, t4) {
  l3.call(this, void 0, t4);
  this.x = i4;
  this.s = void 0;
  this.g = a3 - 1;
  this.f = 4;
}
j2.prototype = new l3();
j2.prototype.h = function() {
  this.f &= -3;
  if (1 & this.f) return false;
  if (32 == (36 & this.f)) return true;
  this.f &= -5;
  if (this.g === a3) return true;
  this.g = a3;
  this.f |= 1;
  if (this.i > 0 && !w3(this)) {
    this.f &= -2;
    return true;
  }
  var i4 = o3;
  try {
    b(this);
    o3 = this;
    var t4 = this.x();
    if (16 & this.f || this.v !== t4 || 0 === this.i) {
      this.v = t4;
      this.f &= -17;
      this.i++;
    }
  } catch (i5) {
    this.v = i5;
    this.f |= 16;
    this.i++;
  }
  o3 = i4;
  _2(this);
  this.f &= -2;
  return true;
};
j2.prototype.S = function(i4) {
  if (void 0 === this.t) {
    this.f |= 36;
    for (var t4 = this.s; void 0 !== t4; t4 = t4.n) t4.S.S(t4);
  }
  l3.prototype.S.call(this, i4);
};
j2.prototype.U = function(i4) {
  if (void 0 !== this.t) {
    l3.prototype.U.call(this, i4);
    if (void 0 === this.t) {
      this.f &= -33;
      for (var t4 = this.s; void 0 !== t4; t4 = t4.n) t4.S.U(t4);
    }
  }
};
j2.prototype.N = function() {
  if (!(2 & this.f)) {
    this.f |= 6;
    for (var i4 = this.t; void 0 !== i4; i4 = i4.x) i4.t.N();
  }
};
Object.defineProperty(j2.prototype, "value", { get: function() {
  if (1 & this.f) throw new Error("Cycle detected");
  var i4 = d2(this);
  this.h();
  if (void 0 !== i4) i4.i = this.i;
  if (16 & this.f) throw this.v;
  return this.v;
} });
function O(i4, t4) {
  return new j2(i4, t4);
}
function p3(i4) {
  var r4 = i4.j;
  i4.j = void 0;
  if ("function" == typeof r4) {
    v3++;
    var n3 = o3;
    o3 = void 0;
    try {
      r4();
    } catch (t4) {
      i4.f &= -2;
      i4.f |= 8;
      g3(i4);
      throw t4;
    } finally {
      o3 = n3;
      t3();
    }
  }
}
function g3(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) t4.S.U(t4);
  i4.x = void 0;
  i4.s = void 0;
  p3(i4);
}
function S2(i4) {
  if (o3 !== this) throw new Error("Out-of-order effect");
  _2(this);
  o3 = i4;
  this.f &= -2;
  try {
    if (8 & this.f) g3(this);
  } finally {
    t3();
  }
}
function m3(i4, t4) {
  this.x = i4;
  this.j = void 0;
  this.s = void 0;
  this.u = void 0;
  this.f = 32;
  this.name = null == t4 ? void 0 : t4.name;
  if (n2) n2.push(this);
}
m3.prototype.c = function() {
  var i4 = this.S();
  try {
    if (8 & this.f) return;
    if (void 0 === this.x) return;
    var t4 = this.x();
    if ("function" == typeof t4) this.j = t4;
  } finally {
    i4();
  }
};
m3.prototype.S = function() {
  if (1 & this.f) throw new Error("Cycle detected");
  this.f |= 1;
  this.f &= -9;
  p3(this);
  b(this);
  v3++;
  var i4 = o3;
  o3 = this;
  return S2.bind(this, i4);
};
m3.prototype.N = function() {
  if (!(2 & this.f)) {
    this.f |= 2;
    this.u = h3;
    h3 = this;
  }
};
m3.prototype.d = function() {
  this.f |= 8;
  if (!(1 & this.f)) g3(this);
};
m3.prototype.dispose = function() {
  this.d();
};
function x2(i4, t4) {
  var r4 = new m3(i4, t4);
  try {
    r4.c();
  } catch (i5) {
    r4.d();
    throw i5;
  }
  var n3 = r4.d.bind(r4);
  n3[Symbol.dispose] = n3;
  return n3;
}

// node_modules/@preact/signals/dist/signals.module.js
var h4;
var d3;
var p4;
var m4 = "undefined" != typeof window && !!window.__PREACT_SIGNALS_DEVTOOLS__;
var g4 = [];
x2(function() {
  h4 = this.N;
})();
function b2(i4, n3) {
  n[i4] = n3.bind(null, n[i4] || function() {
  });
}
function y4(i4) {
  if (p4) {
    var n3 = p4;
    p4 = void 0;
    n3();
  }
  p4 = i4 && i4.S();
}
function w4(i4) {
  var n3 = this, r4 = i4.data, t4 = useSignal(r4);
  t4.name = "ReactiveDom";
  t4.value = r4;
  var e4 = w2(function() {
    var i5 = n3, r5 = n3.__v;
    while (r5 = r5.__) if (r5.__c) {
      r5.__c.__$f |= 4;
      break;
    }
    var o5 = O(function() {
      var i6 = t4.value.value;
      return 0 === i6 ? 0 : true === i6 ? "" : i6 || "";
    }), e5 = O(function() {
      return !Array.isArray(o5.value) && !r(o5.value);
    }), u5 = x2(function() {
      this.N = M;
      if (e5.value) {
        var n4 = o5.value;
        if (i5.__v && i5.__v.__e && 3 === i5.__v.__e.nodeType) i5.__v.__e.data = n4;
      }
    }), c5 = n3.__$u.d;
    n3.__$u.d = function() {
      u5();
      c5.call(this);
    };
    return [e5, o5];
  }, []), u4 = e4[0], c4 = e4[1];
  return u4.value ? c4.peek() : c4.value;
}
w4.displayName = "ReactiveTextNode";
Object.defineProperties(l3.prototype, { constructor: { configurable: true, value: k($, null).constructor }, type: { configurable: true, value: w4 }, props: { configurable: true, get: function() {
  var i4 = this;
  return { data: { get value() {
    return i4.value;
  } } };
} }, __b: { configurable: true, value: 1 } });
b2("__b", function(i4, n3) {
  y4();
  d3 = void 0;
  if ("string" == typeof n3.type) {
    var r4, t4 = n3.props;
    for (var f5 in t4) if ("children" !== f5) {
      var o5 = t4[f5];
      if (o5 instanceof l3) {
        if (!r4) n3.__np = r4 = {};
        r4[f5] = o5;
        t4[f5] = o5.peek();
      }
    }
  }
  i4(n3);
});
b2("__r", function(i4, r4) {
  i4(r4);
  if (r4.type !== $) {
    y4();
    var t4, f5 = r4.__c;
    if (f5) {
      f5.__$f &= -2;
      if (void 0 === (t4 = f5.__$u)) f5.__$u = t4 = (function(i5, n3) {
        var r5;
        x2(function() {
          r5 = this;
        }, { name: n3 });
        r5.c = i5;
        return r5;
      })(/* @__PURE__ */ (function(i5) {
        return function() {
          var n3;
          if (m4) null == (n3 = this.y) || n3.call(this);
          i5.__$f |= 1;
          i5.setState({});
        };
      })(f5), "function" == typeof r4.type ? r4.type.displayName || r4.type.name : "");
    }
    d3 = f5;
    y4(t4);
  }
});
b2("__e", function(i4, n3, r4, t4) {
  y4();
  d3 = void 0;
  i4(n3, r4, t4);
});
b2("diffed", function(i4, n3) {
  y4();
  d3 = void 0;
  var r4;
  if ("string" == typeof n3.type && (r4 = n3.__e)) {
    var t4 = n3.__np, f5 = n3.props, o5 = r4.U;
    if (o5) for (var e4 in o5) {
      var u4 = o5[e4];
      if (!(void 0 === u4 || t4 && e4 in t4)) {
        u4.d();
        o5[e4] = void 0;
      }
    }
    if (t4) {
      if (!o5) {
        o5 = {};
        r4.U = o5;
      }
      for (var a5 in t4) {
        var c4 = o5[a5], v4 = t4[a5];
        if (void 0 === c4) {
          c4 = k3(r4, a5, v4, f5);
          o5[a5] = c4;
        } else c4.o(v4, f5);
      }
    }
  }
  i4(n3);
});
function k3(i4, n3, r4, t4) {
  var f5 = n3 in i4 && void 0 === i4.ownerSVGElement, o5 = y3(r4);
  return { o: function(i5, n4) {
    o5.value = i5;
    t4 = n4;
  }, d: x2(function() {
    this.N = M;
    var r5 = o5.value.value;
    if (t4[n3] !== r5) {
      t4[n3] = r5;
      if (f5) i4[n3] = r5;
      else if (null != r5 && (false !== r5 || "-" === n3[4])) i4.setAttribute(n3, r5);
      else i4.removeAttribute(n3);
    }
  }) };
}
b2("unmount", function(i4, n3) {
  if ("string" == typeof n3.type) {
    var r4 = n3.__e;
    if (r4) {
      var t4 = r4.U;
      if (t4) {
        r4.U = void 0;
        for (var f5 in t4) {
          var o5 = t4[f5];
          if (o5) o5.d();
        }
      }
    }
    var e4 = n3.__np;
    if (e4) {
      var u4 = n3.props;
      for (var a5 in e4) u4[a5] = e4[a5];
    }
    n3.__np = void 0;
  } else {
    var c4 = n3.__c;
    if (c4) {
      c4.__$f |= 8;
      var v4 = c4.__$u;
      if (v4) {
        c4.__$u = void 0;
        v4.d();
      }
    }
  }
  i4(n3);
});
b2("__h", function(i4, n3, r4, t4) {
  if (t4 < 3) n3.__$f |= 2;
  i4(n3, r4, t4);
});
x.prototype.shouldComponentUpdate = function(i4, n3) {
  if (this.__R) return true;
  var r4 = this.__$u, t4 = r4 && void 0 !== r4.s;
  for (var f5 in n3) return true;
  if (this.__f || "boolean" == typeof this.u && true === this.u) {
    var o5 = 2 & this.__$f;
    if (!(t4 || o5 || 4 & this.__$f)) return true;
    if (1 & this.__$f) return true;
  } else {
    if (!(t4 || 4 & this.__$f)) return true;
    if (3 & this.__$f) return true;
  }
  for (var e4 in i4) if ("__source" !== e4 && i4[e4] !== this.props[e4]) return true;
  for (var u4 in this.props) if (!(u4 in i4)) return true;
  return false;
};
function useSignal(i4, n3) {
  return w2(function() {
    return y3(i4, n3);
  }, []);
}
var A3 = function(i4) {
  queueMicrotask(function() {
    queueMicrotask(i4);
  });
};
function F2() {
  r3(function() {
    var i4;
    while (i4 = g4.shift()) h4.call(i4);
  });
}
function M() {
  if (1 === g4.push(this)) (n.requestAnimationFrame || A3)(F2);
}

// src/transport.ts
var RequestError = class extends Error {
  constructor(status, message, kind) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
  status;
  kind;
};
var Unreachable = class extends Error {
};
function given(params) {
  const named = {};
  for (const [name, value] of Object.entries(params)) {
    if (value !== void 0 && value !== "") named[name] = String(value);
  }
  return named;
}
var HttpTransport = class {
  constructor(token, base = "./api/") {
    this.token = token;
    this.base = base;
  }
  token;
  base;
  fetch(route, params, signal) {
    const query2 = new URLSearchParams(given(params)).toString();
    const headers = this.token ? { "X-Zarrix-Token": this.token } : {};
    return fetch(`${this.base}${route}${query2 && `?${query2}`}`, { headers, signal });
  }
  async request(route, params, signal) {
    try {
      const response = await this.fetch(route, params, signal);
      const body = await response.arrayBuffer();
      return { status: response.status, headers: Object.fromEntries(response.headers), body };
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Unreachable("The server does not answer. Is zarrix view still running?");
    }
  }
  listen(route, params, onEvent) {
    const abort = new AbortController();
    const read = async () => {
      const response = await this.fetch(route, params, abort.signal);
      if (!response.ok || !response.body) throw new Error(`status ${response.status}`);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (; ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value.replaceAll("\r\n", "\n");
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          dispatch(text.slice(0, end), onEvent);
          text = text.slice(end + 2);
        }
      }
    };
    read().then(() => onEvent("closed", null)).catch((error) => {
      if (!abort.signal.aborted) onEvent("closed", String(error));
    });
    return () => abort.abort();
  }
};
function dispatch(block, onEvent) {
  let event = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).trim());
  }
  if (data.length) onEvent(event, JSON.parse(data.join("\n")));
}
var KernelTransport = class {
  constructor(model) {
    this.model = model;
    model.on("msg:custom", this.receive);
  }
  model;
  next = 0;
  pending = /* @__PURE__ */ new Map();
  streams = /* @__PURE__ */ new Map();
  /** Stops to listen to the kernel, and ends all requests. */
  close() {
    this.model.off("msg:custom", this.receive);
    for (const waiting of this.pending.values()) waiting.reject(new Unreachable("The widget was closed."));
    this.pending.clear();
    this.streams.clear();
  }
  request(route, params, signal) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      signal?.addEventListener("abort", () => {
        if (!this.pending.delete(id)) return;
        this.model.send({ id, cancel: true });
        reject(signal.reason);
      });
      this.model.send({ id, route, params: given(params) });
    });
  }
  listen(route, params, onEvent) {
    const id = this.next++;
    this.streams.set(id, onEvent);
    this.model.send({ id, route, params: given(params) });
    return () => {
      if (this.streams.delete(id)) this.model.send({ id, cancel: true });
    };
  }
  receive = (message, buffers = []) => {
    const stream = this.streams.get(message.id);
    if (stream) {
      if (message.event) stream(message.event, message.data);
      if (message.end || (message.status ?? 200) >= 400) {
        this.streams.delete(message.id);
        stream("closed", null);
      }
      return;
    }
    const waiting = this.pending.get(message.id);
    if (!waiting) return;
    this.pending.delete(message.id);
    waiting.resolve({
      status: message.status ?? 500,
      headers: message.headers ?? {},
      body: octets(buffers[0])
    });
  };
};
function octets(buffer) {
  if (!buffer) return new ArrayBuffer(0);
  if (buffer instanceof ArrayBuffer) return buffer;
  const { byteOffset, byteLength } = buffer;
  return buffer.buffer.slice(byteOffset, byteOffset + byteLength);
}

// src/api.ts
var PICTURES = ["rgb", "channels", "gray", "flow", "depth", "labels", "mask", "complex"];
function toNumber(value) {
  if (typeof value === "number") return value;
  if (value === null || value === void 0) return Number.NaN;
  return Number(value);
}
var VIEWS = {
  u1: Uint8Array,
  i1: Int8Array,
  u2: Uint16Array,
  i2: Int16Array,
  // The bits: tables of 65,536 entries turn them into colours and numbers.
  f2: Uint16Array,
  f4: Float32Array,
  u4: Uint32Array
};
function asTile({ headers, body }) {
  const type = headers["x-zarrix-type"] ?? "u1";
  const shape = (headers["x-zarrix-shape"] ?? "").split(",").filter(Boolean).map(Number);
  const finite2 = (text) => text === void 0 || text === "" ? null : Number(text);
  return {
    type,
    shape,
    data: new VIEWS[type](body),
    min: finite2(headers["x-zarrix-min"]),
    max: finite2(headers["x-zarrix-max"]),
    headers,
    origin: "x-zarrix-origin" in headers ? { text: headers["x-zarrix-origin"], count: headers["x-zarrix-offset"] } : null,
    damage: "x-zarrix-damage" in headers ? JSON.parse(headers["x-zarrix-damage"]) : null
  };
}
function difference(one, two) {
  const whole = /^-?\d+$/;
  return whole.test(one) && whole.test(two) ? Number(BigInt(one) - BigInt(two)) : Number(one) - Number(two);
}
function rebase(tile, origin) {
  const by = difference(tile.origin?.count ?? "0", origin.count);
  if (by === 0) return;
  const { data } = tile;
  for (let at = 0; at < data.length; at++) data[at] += by;
  if (tile.min !== null) tile.min += by;
  if (tile.max !== null) tile.max += by;
}
var Api = class {
  constructor(transport) {
    this.transport = transport;
  }
  transport;
  async octets(route, params, signal) {
    for (let attempt = 0; ; attempt++) {
      const answer = await this.transport.request(route, params, signal);
      if (answer.status < 400) return answer;
      if (answer.status === 503 && attempt < 4) {
        await new Promise((resolve) => setTimeout(resolve, 200 << attempt));
        if (signal?.aborted) throw signal.reason;
        continue;
      }
      throw refusal(answer);
    }
  }
  async json(route, params, signal) {
    const { body } = await this.octets(route, params, signal);
    return JSON.parse(new TextDecoder().decode(body));
  }
  hello = () => this.json("hello", {});
  tree = (path, offset, limit, filter = "") => this.json("tree", { path, offset, limit, filter });
  node = (path) => this.json("node", { path });
  coordinates = (path) => this.json("coordinates", { path });
  find = (path, axis, label2) => this.json("find", { path, axis, label: label2 });
  related = (path) => this.json("related", { path });
  value = (path, index, options, signal) => this.json("value", { path, index, ...options }, signal);
  cells = (path, sel, field) => this.json("cells", { path, sel, field });
  series = (path, axis, index, options, signal) => this.json("series", { path, axis, index, ...options }, signal);
  profile = (params, signal) => this.json("profile", params, signal);
  stored = (path, sel) => this.json("stored", { path, sel });
  chunks = (params, signal) => this.json("chunks", params, signal);
  chunk = (path, coords) => this.json("chunk", { path, coords: coords.join(",") });
  plan = (path, sel) => this.json("plan", { path, sel });
  stats = (path, sel, options, signal) => this.json("stats", { path, sel, ...options }, signal);
  code = (path, sel) => this.json("code", { path, sel });
  async tile(path, sel, field, as, signal) {
    return asTile(await this.octets("tile", { path, sel, field, as }, signal));
  }
  async overview(params, signal) {
    return asTile(await this.octets("overview", params, signal));
  }
  async projection(params, signal) {
    return asTile(await this.octets("projection", params, signal));
  }
  async crops(path, shape, n3, seed) {
    return asTile(await this.octets("crops", { path, shape, n: n3, seed }));
  }
};
function refusal({ status, body }) {
  const text = new TextDecoder().decode(body);
  try {
    const { error, kind } = JSON.parse(text);
    return new RequestError(status, error ?? text, kind ?? "");
  } catch {
    return new RequestError(status, text || `The server answered with status ${status}.`, "");
  }
}

// src/fragment.ts
var WAYS = ["max", "min", "mean"];
function toFragment(state) {
  const params = new URLSearchParams();
  for (const pane of state.panes) {
    const options = [];
    if (pane.kind) options.push(`kind:${pane.kind}`);
    if (pane.range) options.push(`range:${pane.range.join(":")}`);
    if (pane.map) options.push(`map:${pane.map}`);
    if (pane.transform) options.push(`transform:${pane.transform}`);
    if (pane.clip !== void 0) options.push(`clip:${pane.clip}`);
    if (pane.eachFrame) options.push("frames:1");
    if (pane.outlines) options.push("outlines:1");
    if (pane.raw) options.push("raw:1");
    for (const { active, color, gamma, range } of pane.channels ?? []) {
      options.push(["channel", active ? 1 : 0, color.replace("#", ""), gamma, ...range ?? []].join(":"));
    }
    if (pane.upright !== void 0) options.push(`upright:${pane.upright ? 1 : 0}`);
    if (pane.axes) {
      const { y: y5, x: x3, c: c4 } = pane.axes;
      options.push(`axes:${y5 ?? ""}:${x3 ?? ""}:${c4 ?? ""}`);
    }
    if (pane.projection) options.push(`along:${pane.projection.axis}:${pane.projection.how}`);
    if (pane.over) options.push(`over:${pane.over.mode}:${pane.over.opacity}:${pane.over.outlines ? 1 : 0}:${encodeURIComponent(pane.over.path)}`);
    if (pane.chunks) options.push(`chunks:${pane.chunks}`);
    if (pane.coast === false) options.push("coast:0");
    if (pane.cross) options.push("cross");
    if (pane.view) options.push(`view:${pane.view.map((part) => Number(part.toFixed(5))).join(":")}`);
    if (pane.field) options.push(`field:${escaped(pane.field)}`);
    params.append("path", pane.path);
    params.append("as", options.join(";"));
  }
  const at = Object.entries(state.at).filter(([, index]) => index !== 0);
  for (const [name, index] of at) params.append("at", `${name}=${index}`);
  if (state.view) params.append("view", state.view.map((part) => Number(part.toFixed(5))).join(","));
  if (state.grid) params.append("grid", "1");
  if (state.missing === false) params.append("missing", "0");
  for (const pin of state.pins ?? []) params.append("pin", pin.join(","));
  if (state.line) params.append("line", state.line.join(","));
  if (state.sel) params.append("sel", state.sel);
  return params.toString();
}
function escaped(name) {
  return name.replace(/[%;:]/g, encodeURIComponent);
}
function unescaped(text) {
  return text.replace(/%(25|3A|3B)/gi, decodeURIComponent);
}
function fromFragment(fragment) {
  const params = new URLSearchParams(fragment.replace(/^#/, ""));
  const as = params.getAll("as");
  const panes = params.getAll("path").slice(0, 6).map((path, number2) => paneOf(path, as[number2] ?? ""));
  const at = {};
  for (const text of params.getAll("at")) {
    const end = text.lastIndexOf("=");
    const index = Number(text.slice(end + 1));
    if (end > 0 && Number.isSafeInteger(index) && index >= 0) at[text.slice(0, end)] = index;
  }
  return {
    token: params.get("token"),
    panes,
    at,
    view: viewOf((params.get("view") ?? "").split(",")),
    ...params.get("grid") === "1" && { grid: true },
    ...params.get("missing") === "0" && { missing: false },
    ...params.has("pin") && { pins: params.getAll("pin").slice(0, 8).flatMap((text) => wholesOf(text, 3)) },
    ...params.has("line") && { line: wholesOf(params.get("line") ?? "", 5)[0] },
    sel: params.get("sel") ?? void 0
  };
}
function wholesOf(text, count) {
  const found = text.split(",").map((part) => Number(part || Number.NaN));
  return found.length === count && found.every((one) => Number.isSafeInteger(one) && one >= 0) ? [found] : [];
}
function viewOf(parts) {
  const view = parts.map((part) => Number(part || Number.NaN));
  return view.length === 3 && view.every((part) => Number.isFinite(part)) ? view : void 0;
}
function paneOf(path, options) {
  const pane = { path };
  for (const option of options.split(";")) {
    const [name, ...rest] = option.split(":");
    const value = rest.join(":");
    if (name === "kind") pane.kind = value;
    if (name === "map") pane.map = value;
    if (name === "transform") pane.transform = value;
    if (name === "clip" && value !== "" && Number(value) >= 0 && Number(value) < 50) pane.clip = Number(value);
    if (name === "frames") pane.eachFrame = true;
    if (name === "outlines") pane.outlines = true;
    if (name === "raw") pane.raw = true;
    if (name === "channel") {
      const channel = channelOf(rest);
      if (channel) (pane.channels ??= []).push(channel);
    }
    if (name === "upright") pane.upright = value === "1";
    if (name === "field") pane.field = unescaped(value);
    if (name === "cross") pane.cross = true;
    if (name === "along") {
      const how = WAYS.find((one) => one === rest[1]);
      const axis = Number(rest[0] || Number.NaN);
      if (how && Number.isInteger(axis)) pane.projection = { axis, how };
    }
    if (name === "chunks") pane.chunks = ["bytes", "ratio", "age"].find((one) => one === value);
    if (name === "coast") pane.coast = value !== "0";
    if (name === "over") pane.over = overOf(rest);
    if (name === "view") pane.view = viewOf(rest);
    if (name === "range") {
      const range = rest.map(Number);
      if (range.length === 2 && range.every((part) => Number.isFinite(part))) pane.range = range;
    }
    if (name === "axes") {
      const [y5, x3, c4] = rest.map((text) => text === "" ? void 0 : Number(text));
      pane.axes = { y: y5, x: x3, c: c4 ?? null };
    }
  }
  return pane;
}
function overOf([mode, opacity, outlines, path]) {
  const known = ["labels", "blink", "difference"].find((one) => one === mode);
  const part = Number(opacity || Number.NaN);
  if (!known || !path || !(part >= 0 && part <= 1)) return void 0;
  try {
    return { mode: known, opacity: part, outlines: outlines === "1", path: decodeURIComponent(path) };
  } catch {
    return void 0;
  }
}
function channelOf([active, color, gamma, ...ends]) {
  const power = Number(gamma);
  if (!/^[0-9a-f]{6}$/i.test(color ?? "") || !(power >= 0.1 && power <= 5)) return null;
  const range = ends.map(Number);
  const isRange = range.length === 2 && range.every((end) => Number.isFinite(end));
  return { active: active === "1", color: `#${color}`, gamma: power, range: isRange ? range : null };
}
function parseSelection(text, shape) {
  let parts = text.trim() === "" ? [] : text.split(",").map((part) => part.trim());
  const dots = parts.indexOf("...");
  if (dots >= 0) {
    const fill = Array(Math.max(0, shape.length - parts.length + 1)).fill(":");
    parts = [...parts.slice(0, dots), ...fill, ...parts.slice(dots + 1)];
  }
  if (parts.length > shape.length) return null;
  while (parts.length < shape.length) parts.push(":");
  const items = [];
  for (const [axis, part] of parts.entries()) {
    if (!/^-?\d*(:-?\d*(:\d*)?)?$/.test(part) || part === "" || part === "-") return null;
    const length = shape[axis];
    const at = (value, fallback) => {
      if (value === "") return fallback;
      const index = Number(value);
      return Math.max(0, Math.min(length, index < 0 ? index + length : index));
    };
    const [begin, end, step] = part.split(":");
    if (end === void 0) {
      const index = at(begin, 0);
      items.push({ begin: index, end: index + 1, step: 1, whole: false, single: true });
    } else {
      items.push({ begin: at(begin, 0), end: at(end, length), step: Number(step || 1), whole: begin === "" && end === "", single: false });
    }
  }
  return items;
}

// src/paint/values.ts
function fromHalf(bits) {
  const sign2 = bits & 32768 ? -1 : 1;
  const exponent = bits >> 10 & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign2 * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign2 * Number.POSITIVE_INFINITY;
  return sign2 * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
var numbersMade = /* @__PURE__ */ new Map();
function numbersOf(type) {
  if (type === "f4" || type === "u4") return null;
  let table = numbersMade.get(type);
  if (!table) {
    const size = type === "u1" || type === "i1" ? 256 : 65536;
    const half = size / 2;
    table = Float64Array.from({ length: size }, (_4, bits) => {
      if (type === "f2") return fromHalf(bits);
      return type === "i1" || type === "i2" ? bits < half ? bits : bits - size : bits;
    });
    numbersMade.set(type, table);
  }
  return table;
}
function asBits(data) {
  if (data instanceof Int8Array) return new Uint8Array(data.buffer, data.byteOffset, data.length);
  if (data instanceof Int16Array) return new Uint16Array(data.buffer, data.byteOffset, data.length);
  return data;
}
function transformed(value, transform) {
  if (transform === "inverse") return value > 0 ? 1 / value : Number.NaN;
  if (transform === "log") return value > 0 ? Math.log(value) : Number.NaN;
  return value;
}
var NOT_VALID = 32768;
var Scale = class {
  constructor(range, transform = "linear") {
    this.transform = transform;
    let [low, high] = range;
    if (transform !== "linear") {
      low = Math.max(low, 2 ** -24);
      high = Math.max(high, low);
    }
    this.low = transformed(low, transform);
    const extent = transformed(high, transform) - this.low;
    this.factor = extent === 0 ? Number.POSITIVE_INFINITY : 256 / extent;
  }
  transform;
  low;
  factor;
  level(value) {
    const scaled2 = (transformed(value, this.transform) - this.low) * this.factor;
    if (!Number.isFinite(value)) return NOT_VALID;
    if (scaled2 >= 255) return 255;
    if (scaled2 > 0) return Math.floor(scaled2);
    return Number.isNaN(transformed(value, this.transform)) ? NOT_VALID : 0;
  }
  /** The level of every bit pattern. */
  table(numbers2) {
    return Uint16Array.from(numbers2, (value) => this.level(value));
  }
};

// src/plane.ts
function screenRow(view, row) {
  return view.flip ? view.flip - row : row;
}
function regularCuts(length, step) {
  return {
    count: Math.max(1, Math.ceil(length / step)),
    at: (index) => Math.min(length, index * step),
    find: (position) => Math.floor(position / step)
  };
}
function listedCuts(lengths2) {
  const edges = [0];
  for (const length of lengths2) edges.push(edges[edges.length - 1] + length);
  return {
    count: lengths2.length,
    at: (index) => edges[Math.min(index, lengths2.length)],
    find: (position) => {
      let low = 0;
      let high = lengths2.length - 1;
      while (low < high) {
        const middle = low + high + 1 >> 1;
        if (edges[middle] <= position) low = middle;
        else high = middle - 1;
      }
      return low;
    }
  };
}
function chunkCuts(length, chunk) {
  return Array.isArray(chunk) ? listedCuts(chunk) : regularCuts(length, Math.max(1, chunk));
}
function tileCuts(length, chunk, target) {
  if (Array.isArray(chunk)) {
    const merged = [];
    for (const size of chunk) {
      const last = merged.length - 1;
      if (last >= 0 && merged[last] + size <= target) merged[last] += size;
      else for (let rest = size; rest > 0; rest -= target) merged.push(Math.min(rest, target));
    }
    return listedCuts(merged);
  }
  if (chunk > target) return regularCuts(length, target);
  return regularCuts(length, Math.max(1, chunk) * Math.floor(target / Math.max(1, chunk)));
}
function tileSide(channels) {
  return Math.min(1024, Math.floor(Math.sqrt((3 << 19) / Math.max(1, channels))));
}
function visible(view, height, width) {
  const clip = (value, end) => Math.max(0, Math.min(end, value));
  const y0 = clip(Math.floor(-view.top / view.scaleY), height);
  const y1 = clip(Math.ceil((view.height - view.top) / view.scaleY), height);
  return {
    y0: view.flip ? height - y1 : y0,
    y1: view.flip ? height - y0 : y1,
    x0: clip(Math.floor(-view.left / view.scale), width),
    x1: clip(Math.ceil((view.width - view.left) / view.scale), width)
  };
}
function onScreen(view, box) {
  const left = view.left + Math.round(box.x0 * view.scale);
  const [y0, y1] = view.flip ? [view.flip - box.y1, view.flip - box.y0] : [box.y0, box.y1];
  const top = view.top + Math.round(y0 * view.scaleY);
  return {
    left,
    top,
    width: view.left + Math.round(box.x1 * view.scale) - left,
    height: view.top + Math.round(y1 * view.scaleY) - top
  };
}
function tilesIn(box, rows, columns) {
  const tiles = [];
  if (box.y1 <= box.y0 || box.x1 <= box.x0) return tiles;
  for (let row = rows.find(box.y0); row < rows.count && rows.at(row) < box.y1; row++) {
    for (let column = columns.find(box.x0); column < columns.count && columns.at(column) < box.x1; column++) {
      tiles.push({ y0: rows.at(row), y1: rows.at(row + 1), x0: columns.at(column), x1: columns.at(column + 1) });
    }
  }
  return tiles;
}
function selection(rank, axes, index, box, whole) {
  const items = [];
  for (let axis = 0; axis < rank; axis++) {
    if (axis === axes.y) items.push(box ? `${box.y0}:${box.y1}` : ":");
    else if (axis === axes.x) items.push(box ? `${box.x0}:${box.x1}` : ":");
    else if (axis === axes.c || axis === whole) items.push(":");
    else items.push(String(index[axis] ?? 0));
  }
  return items.join(",");
}
function layoutOf(shape, axes, components) {
  const shown = [axes.y, axes.x, axes.c].filter((axis) => typeof axis === "number");
  shown.sort((a5, b3) => a5 - b3);
  const strides = [];
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  const find = (axis) => typeof axis === "number" ? shown.indexOf(axis) : -1;
  const [y5, x3, c4] = [find(axes.y), find(axes.x), find(axes.c)];
  const extent = (at) => at < 0 ? 1 : shape[at];
  const stepOf = (at) => at < 0 ? 0 : strides[at];
  const parts = components > 1;
  return {
    height: extent(y5),
    width: extent(x3),
    sy: stepOf(y5),
    sx: stepOf(x3),
    sc: parts ? 1 : stepOf(c4),
    channels: parts ? components : extent(c4)
  };
}
function levelFor(node, axes, scale, scaleY) {
  const y5 = axes.y;
  const x3 = axes.x;
  if (y5 === void 0 || x3 === void 0 || node.levels.length < 2) return null;
  let chosen = null;
  let extent = node.shape[x3];
  for (const level of node.levels) {
    if (level.shape.length !== node.shape.length) continue;
    const width = level.shape[x3];
    const isEnough = (axis, pixels) => level.shape[axis] >= node.shape[axis] * Math.min(1, pixels) * 0.75;
    if (width <= extent && isEnough(x3, scale) && isEnough(y5, scaleY)) {
      chosen = level;
      extent = width;
    }
  }
  return chosen && chosen.path !== node.path ? chosen : null;
}
var LEAST_SIDE = 12;
function fitting(height, width, screenHeight, screenWidth) {
  const scale = Math.min(screenHeight / Math.max(1, height), screenWidth / Math.max(1, width));
  if (scale >= 1) return Math.floor(scale);
  return Math.max(scale, Math.min(1, LEAST_SIDE / Math.max(1, Math.min(height, width))));
}
function centred(length, screen) {
  return Math.max(0, Math.round((screen - length) / 2));
}

// src/exported.ts
var Absent = class extends Error {
};
var FileTransport = class {
  constructor(data) {
    this.data = data;
  }
  data;
  made = /* @__PURE__ */ new Map();
  async request(route, params) {
    try {
      return await this.answer(route, params);
    } catch (error) {
      if (!(error instanceof Absent)) throw error;
      return json({ error: error.message, kind: "not-exported" }, 404);
    }
  }
  listen(_route, _params, onEvent) {
    setTimeout(() => onEvent("closed", "This page has no server."));
    return () => void 0;
  }
  async answer(route, params) {
    const path = String(params.path ?? "");
    if (route === "hello") return json(this.data.answers.hello);
    if (route === "tree") return json(this.tree(path, params));
    if (["node", "coordinates", "related"].includes(route)) return json(this.known(`${route} ${path}`));
    if (route === "stored") return json(this.stored(path, String(params.sel ?? "")));
    const make = { tile: this.tile, value: this.value, cells: this.cells, series: this.series, stats: this.stats, projection: this.projection, profile: this.profile }[route];
    if (!make) throw new Absent("This page was exported without a server, which this needs.");
    return make(path, params);
  }
  known(key) {
    const found = this.data.answers[key];
    if (found === void 0) throw new Absent("This was left out when the page was exported.");
    return found;
  }
  tree(path, { offset, limit, filter }) {
    const known = this.known(`tree ${path}`);
    const text = String(filter ?? "").toLowerCase();
    const all = text ? Object.entries(this.data.answers).filter(([key]) => key.startsWith("tree ")).flatMap(([, one]) => one.members).filter((member) => member.path.toLowerCase().includes(text)) : known.members;
    const begin = Number(offset ?? 0);
    return { path, total: all.length, offset: begin, members: all.slice(begin, begin + Number(limit ?? 100)) };
  }
  /** The values of an array, unpacked once. */
  whole(path, as) {
    const key = `${as} ${path}` in this.data.tiles ? `${as} ${path}` : `raw ${path}`;
    const packed = this.data.tiles[key];
    if (!packed) throw new Absent("The values of this array were left out when the page was exported.");
    let tile = this.made.get(key);
    if (!tile) {
      tile = unpacked(packed.body).then((body) => asTile({ status: 200, headers: packed.headers, body }));
      this.made.set(key, tile);
    }
    return tile;
  }
  async part(path, sel, as) {
    const tile = await this.whole(path, as);
    const node = this.known(`node ${path}`);
    const shape = node.components > 1 ? tile.shape.slice(0, -1) : tile.shape;
    const items = parseSelection(sel, shape);
    if (!items) throw new Absent(`The selection ${sel} does not fit.`);
    if (node.components > 1) items.push({ begin: 0, end: node.components, step: 1, whole: true, single: false });
    return cut(tile, items);
  }
  tile = async (path, params) => {
    const whole = await this.whole(path, String(params.as ?? "raw"));
    const { shape, data } = await this.part(path, String(params.sel ?? ""), String(params.as ?? "raw"));
    const known = rangeOf(numbers(whole.type, data));
    const { "x-zarrix-min": _4, "x-zarrix-max": __, "x-zarrix-damage": ___, ...rest } = whole.headers;
    const body = data.buffer;
    return { status: 200, headers: { ...rest, ...known, "x-zarrix-shape": shape.join(",") }, body };
  };
  async values(path, sel, params) {
    const as = String(params.as ?? "raw");
    const whole = await this.whole(path, as);
    const { shape, data } = await this.part(path, sel, as);
    const values = numbers(whole.type, data);
    const count = Number(whole.origin?.count ?? 0);
    return { shape, values: count ? values.map((value) => value + count) : values };
  }
  value = async (path, params) => {
    const sel = String(params.index ?? "");
    const { values } = await this.values(path, sel, { ...params, as: "raw" });
    const node = this.known(`node ${path}`);
    const items = parseSelection(sel, node.shape) ?? [];
    const chunk = items.map(({ begin }, axis) => chunkCuts(node.shape[axis], node.chunks[axis]).find(begin));
    const texts = [...values].map(shortest);
    const found = { dtype: node.dtype, chunk, ...texts.length === 1 ? { text: texts[0] } : { texts } };
    if (params.as === "cf" && `cf ${path}` in this.data.tiles) {
      const meant = await this.values(path, sel, params);
      found.meant = [...meant.values].map((one) => Number.isNaN(one) ? "missing" : shortest(one));
    }
    return json(found);
  };
  cells = async (path, params) => {
    const { shape, values } = await this.values(path, String(params.sel ?? ""), { as: "raw" });
    return json({ shape, cells: [...values].map(shortest) });
  };
  series = async (path, params) => {
    const axis = Number(params.axis ?? 0);
    const node = this.known(`node ${path}`);
    const begin = Number(params.begin ?? 0);
    const end = Number(params.end ?? node.shape[axis]);
    const index = String(params.index ?? "").split(",");
    const sel = node.shape.map((_4, at) => at === axis ? `${begin}:${end}` : index[at]).join(",");
    const { values } = await this.values(path, sel, params);
    const step = Math.max(1, Math.ceil(values.length / Number(params.width ?? 1e3)));
    const bins = Array.from({ length: Math.ceil(values.length / step) }, (_4, at) => extremes(values.subarray(at * step, (at + 1) * step)));
    const known = (end_) => bins.map((ends) => ends[0] <= ends[1] ? ends[end_] : null);
    return json({ axis, begin, length: values.length, step, min: known(0), max: step === 1 ? null : known(1) });
  };
  stats = async (path, params) => {
    const { values } = await this.values(path, String(params.sel ?? ""), params);
    const finite2 = values.filter(Number.isFinite);
    const [min2, max2] = extremes(finite2);
    const mean = finite2.reduce((sum, value) => sum + value, 0) / finite2.length;
    const spread = Math.sqrt(finite2.reduce((sum, value) => sum + (value - mean) ** 2, 0) / finite2.length);
    const bins = finite2.length ? Number(params.bins ?? 256) : 0;
    const [low, high] = max2 > min2 ? [min2, max2] : [min2, min2 + 1];
    const histogram = new Array(bins).fill(0);
    for (const value of finite2) histogram[Math.min(bins - 1, Math.floor((value - low) / (high - low) * bins))]++;
    const edges = bins ? Array.from({ length: bins + 1 }, (_4, at) => low + (high - low) * at / bins) : [];
    const nan = values.reduce((count, value) => count + (Number.isNaN(value) ? 1 : 0), 0);
    const known = finite2.length ? { min: min2, max: max2, mean, std: spread } : { min: null, max: null, mean: null, std: null };
    return json({ count: values.length, nan, inf: values.length - finite2.length - nan, ...known, percentiles: {}, histogram, edges, exact: true });
  };
  projection = async (path, params) => {
    const sel = String(params.sel ?? "");
    const node = this.known(`node ${path}`);
    const items = parseSelection(sel, node.shape) ?? [];
    const along = items.slice(0, Number(params.along)).filter(({ single }) => !single).length;
    const { shape, values } = await this.values(path, sel, params);
    const inner = shape.slice(along + 1).reduce((a5, b3) => a5 * b3, 1);
    const outer = shape.slice(0, along).reduce((a5, b3) => a5 * b3, 1);
    const found = new Float32Array(outer * inner);
    for (let at = 0; at < found.length; at++) {
      const column = [];
      for (let depth = 0; depth < shape[along]; depth++) {
        const value = values[(Math.floor(at / inner) * shape[along] + depth) * inner + at % inner];
        if (!Number.isNaN(value)) column.push(value);
      }
      const [low, high] = extremes(column);
      const mean = column.reduce((a5, b3) => a5 + b3, 0) / column.length;
      found[at] = column.length ? { max: high, min: low, mean }[String(params.how ?? "max")] ?? Number.NaN : Number.NaN;
    }
    const known = rangeOf(found);
    const kept = shape.toSpliced(along, 1).join(",");
    return { status: 200, headers: { "x-zarrix-type": "f4", "x-zarrix-shape": kept, ...known }, body: found.buffer };
  };
  profile = async (path, params) => {
    const [y0, x0, y1, x1] = String(params.ends).split(",").map(Number);
    const [y5, x3] = String(params.axes).split(",").map(Number);
    const index = String(params.index).split(",");
    const count = Math.max(Math.abs(y1 - y0), Math.abs(x1 - x0)) + 1;
    const sel = index.map((one, axis) => axis === y5 || axis === x3 ? ":" : one).join(",");
    const { shape, values } = await this.values(path, sel, params);
    const part = (at) => count === 1 ? 0 : at / (count - 1);
    const rows = Array.from({ length: count }, (_4, at) => Math.floor(y0 + part(at) * (y1 - y0) + 0.5));
    const columns = Array.from({ length: count }, (_4, at) => Math.floor(x0 + part(at) * (x1 - x0) + 0.5));
    const found = rows.map((row, at) => values[y5 < x3 ? row * shape[1] + columns[at] : columns[at] * shape[1] + row]);
    const distances = rows.map((row, at) => Math.hypot(row - y0, columns[at] - x0));
    return json({ rows, columns, distances, values: found.map((one) => Number.isNaN(one) ? null : one) });
  };
  /** Which chunks of a part are stored, from those of the whole array. */
  stored(path, sel) {
    const all = this.known(`stored ${path}`);
    const node = this.known(`node ${path}`);
    const lengths2 = all.unit === "shard" && node.shards ? node.shards : node.chunks;
    const items = parseSelection(sel, node.shape);
    if (!items) return all;
    const bits = new Uint8Array(all.runs.reduce((a5, b3) => a5 + b3, 0));
    let at = 0;
    all.runs.forEach((run2, number2) => bits.fill(number2 % 2, at, at += run2));
    const sides = all.box.map(([begin, end]) => end - begin);
    const box = items.map(({ begin, end }, axis) => {
      const cuts = chunkCuts(node.shape[axis], lengths2[axis]);
      return [cuts.find(begin), cuts.find(Math.max(begin, end - 1)) + 1];
    });
    const chosen = box.map(([begin, end]) => ({ begin, end, step: 1, whole: false, single: false }));
    const { data } = cut({ shape: sides, data: bits }, chosen);
    const runs = [];
    let bit = 0;
    let run = 0;
    for (const one of data) {
      if (one !== bit) {
        runs.push(run);
        run = 0;
        bit = one;
      }
      run++;
    }
    runs.push(run);
    return { ...all, box, runs, stored: data.filter((one) => one === 1).length };
  }
};
function cut({ shape, data }, items) {
  const strides = [];
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  const counts = items.map(({ begin, end, step }) => Math.max(0, Math.ceil((end - begin) / step)));
  const total = counts.reduce((a5, b3) => a5 * b3, 1);
  const found = data.slice(0, 0).constructor;
  const out = new found(total);
  const at = counts.map(() => 0);
  let source = items.reduce((sum, { begin }, axis) => sum + begin * strides[axis], 0);
  for (let element = 0; element < total; element++) {
    out[element] = data[source];
    for (let axis = counts.length - 1; axis >= 0; axis--) {
      source += strides[axis] * items[axis].step;
      if (++at[axis] < counts[axis]) break;
      source -= counts[axis] * strides[axis] * items[axis].step;
      at[axis] = 0;
    }
  }
  return { shape: counts.filter((_4, axis) => !items[axis].single), data: out };
}
function numbers(type, data) {
  const table = numbersOf(type);
  return table ? Float64Array.from(asBits(data), (bits) => table[bits]) : Float64Array.from(data);
}
function extremes(values) {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (value < low && value !== Number.NEGATIVE_INFINITY) low = value;
    if (value > high && value !== Number.POSITIVE_INFINITY) high = value;
  }
  return [low, high];
}
function rangeOf(values) {
  const [min2, max2] = extremes(values);
  return min2 <= max2 ? { "x-zarrix-min": String(min2), "x-zarrix-max": String(max2) } : {};
}
function shortest(value) {
  if (Number.isInteger(value) || !Number.isFinite(value)) return String(value);
  for (let digits = 6; digits < 9; digits++) {
    const short2 = Number(value.toPrecision(digits));
    if (Math.fround(short2) === Math.fround(value)) return String(short2);
  }
  return String(Number(value.toPrecision(9)));
}
async function unpacked(text) {
  const bytes2 = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes2]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
function json(value, status = 200) {
  const text = JSON.stringify(value, (_4, one) => typeof one === "number" && !Number.isFinite(one) ? String(one) : one);
  return { status, headers: { "content-type": "application/json" }, body: new TextEncoder().encode(text).buffer };
}

// src/paint/hex.ts
var HEX = {
  viridis: "44015444025544035745055845065a45085b46095c460b5e460c5f460e61470f6247116347126547146647156747166947186a48196b481a6c481c6e481d6f481e70482071482172482273482374472575472676472777472878472a79472b7a472c7b462d7c462f7c46307d46317e45327f45347f453580453681443781443982433a83433b83433c84423d84423e854240854141864142864043874044873f45873f47883e48883e49893d4a893d4b893d4c893c4d8a3c4e8a3b508a3b518a3a528b3a538b39548b39558b38568b38578c37588c37598c365a8c365b8c355c8c355d8c345e8d345f8d33608d33618d32628d32638d31648d31658d31668d30678d30688d2f698d2f6a8d2e6b8e2e6c8e2e6d8e2d6e8e2d6f8e2c708e2c718e2c728e2b738e2b748e2a758e2a768e2a778e29788e29798e287a8e287a8e287b8e277c8e277d8e277e8e267f8e26808e26818e25828e25838d24848d24858d24868d23878d23888d23898d22898d228a8d228b8d218c8d218d8c218e8c208f8c20908c20918c1f928c1f938b1f948b1f958b1f968b1e978a1e988a1e998a1e998a1e9a891e9b891e9c891e9d881e9e881e9f881ea0871fa1871fa2861fa38620a48520a58521a68521a78422a78423a88323a98224aa8225ab8126ac8127ad8028ae7f29af7f2ab07e2bb17d2cb17d2eb27c2fb37b30b47a32b57a33b67935b77836b87738b97639b9763bba753dbb743ebc7340bd7242be7144be7045bf6f47c06e49c16d4bc26c4dc26b4fc36951c46853c56755c66657c66559c7645bc8625ec96160c96062ca5f64cb5d67cc5c69cc5b6bcd596dce5870ce5672cf5574d05477d05279d1517cd24f7ed24e81d34c83d34b86d44988d5478bd5468dd64490d64392d74195d73f97d83e9ad83c9dd93a9fd938a2da37a5da35a7db33aadb32addc30afdc2eb2dd2cb5dd2bb7dd29bade27bdde26bfdf24c2df22c5df21c7e01fcae01ecde01dcfe11cd2e11bd4e11ad7e219dae218dce218dfe318e1e318e4e318e7e419e9e419ece41aeee51bf1e51cf3e51ef6e61ff8e621fae622fde724",
  magma: "00000300000400000601000701010901010b02020d02020f03031104031304041505041706051907051b08061d09071f0a07220b08240c09260d0a280e0a2a0f0b2c100c2f110c31120d33140d35150e38160e3a170f3c180f3f1a10411b10441c10461e10491f114b20114d2211502311522511552611572811592a115c2b115e2d10602f1062301065321067341068350f6a370f6c390f6e3b0f6f3c0f713e0f72400f73420f74430f75450f76470f774810784a10794b10794d117a4f117b50127b52127c53137c55137d57147d58157e5a157e5b167e5d177e5e177f60187f61187f63197f651a80661a80681b80691c806b1c806c1d806e1e816f1e81711f81731f817420817621817721817922817a22817c23817e24817f24818125818225818426818526818727818928818a28818c29808d29808f2a80912a80922b80942b80952c80972c7f992d7f9a2d7f9c2e7f9e2e7e9f2f7ea12f7ea3307ea4307da6317da7317da9327cab337cac337bae347bb0347bb1357ab3357ab53679b63679b83778b93778bb3877bd3977be3976c03a75c23a75c33b74c53c74c63c73c83d72ca3e72cb3e71cd3f70ce4070d0416fd1426ed3426dd4436dd6446cd7456bd9466ada4769dc4869dd4968de4a67e04b66e14c66e24d65e44e64e55063e65162e75262e85461ea5560eb5660ec585fed595fee5b5eee5d5def5e5df0605df1615cf2635cf3655cf3675bf4685bf56a5bf56c5bf66e5bf6705bf7715bf7735cf8755cf8775cf9795cf97b5df97d5dfa7f5efa805efa825ffb8460fb8660fb8861fb8a62fc8c63fc8e63fc9064fc9265fc9366fd9567fd9768fd9969fd9b6afd9d6bfd9f6cfda16efda26ffda470fea671fea873feaa74feac75feae76feaf78feb179feb37bfeb57cfeb77dfeb97ffebb80febc82febe83fec085fec286fec488fec689fec78bfec98dfecb8efdcd90fdcf92fdd193fdd295fdd497fdd698fdd89afdda9cfddc9dfddd9ffddfa1fde1a3fce3a5fce5a6fce6a8fce8aafceaacfcecaefceeb0fcf0b1fcf1b3fcf3b5fcf5b7fbf7b9fbf9bbfbfabdfbfcbf",
  turbo: "30123b31154232184a341b51351e5836215f37236538266c3929723a2c793b2f7f3c32853c358b3d37913e3a963f3d9c4040a14043a64145ab4148b0424bb5434eba4350be4353c24456c74458cb455bce455ed24560d64563d94666dd4668e0466be3466de64670e84673eb4675ed4678f0467af2467df4467ff64682f84584f94587fb4589fc448cfd438efd4291fe4193fe4096fe3f98fe3e9bfe3c9dfd3ba0fc39a2fc38a5fb36a8f934aaf833acf631aff52fb1f32db4f12bb6ef2ab9ed28bbeb26bde925c0e623c2e421c4e120c6df1ec9dc1dcbda1ccdd71bcfd41ad1d219d3cf18d5cc18d7ca17d9c717dac417dcc217debf18e0bd18e1ba19e3b81ae4b61be5b41de7b11ee8af20e9ac22eba924eca627eda329eea02cef9d2ff09a32f19735f39438f4913bf48d3ff58a42f68746f7834af8804df97c51f97955fa7659fb725dfb6f61fc6c65fc6869fd656dfd6271fd5f74fe5c78fe597cfe5680fe5384fe5087fe4d8bfe4b8efe4892fe4695fe4498fe429bfd409efd3ea1fc3da4fc3ba6fb3aa9fb39acfa37aef937b1f836b3f835b6f735b9f534bbf434bef334c0f233c3f133c5ef33c8ee33caed33cdeb34cfea34d1e834d4e735d6e535d8e335dae236dde036dfde36e1dc37e3da37e5d838e7d738e8d538ead339ecd139edcf39efcd39f0cb3af2c83af3c63af4c43af6c23af7c039f8be39f9bc39f9ba38fab737fbb537fbb336fcb035fcae34fdab33fda932fda631fda330fea12ffe9e2efe9b2dfe982cfd952bfd9229fd8f28fd8c27fc8926fc8624fb8323fb8022fa7d20fa7a1ff9771ef8741cf7711bf76e1af66b18f56817f46516f36315f26014f15d13ef5a11ee5810ed550fec520eea500de94d0de84b0ce6490be5460ae3440ae24209e04008de3e08dd3c07db3a07d93806d73606d63405d43205d23005d02f04ce2d04cb2b03c92903c72803c52602c32402c02302be2102bb1f01b91e01b61c01b41b01b11901ae1801ac1601a91501a61401a31201a011019d10019a0e01970d01940c01910b018e0a018b09018708018407018106027d05027a0402",
  coolwarm: "3a4cc03b4dc13c4fc33e51c43f53c64054c74156c94258ca435acc455bcd465dcf475fd04860d14962d34b64d44c66d64d67d74e69d8506bda516cdb526edc5370dd5571de5673e05775e15876e25a78e35b79e45c7be55d7de65f7ee76080e86182ea6383ea6485eb6586ec6788ed6889ee698bef6b8df06c8ef16d90f16f91f27093f37194f47395f47497f57598f6779af6789bf77a9df87b9ef87ca0f97ea1f97fa2fa80a4fa82a5fb83a6fb85a8fb86a9fc87aafc89acfc8aadfd8baefd8daffd8eb1fd90b2fe91b3fe92b4fe94b5fe95b7fe97b8fe98b9fe99bafe9bbbfe9cbcfe9dbdfe9fbefea0bffea2c0fea3c1fea4c2fea6c3fda7c4fda8c5fdaac6fdabc7fcacc8fcaec9fcafcafbb0cbfbb2cbfbb3ccfab4cdfab6cef9b7cff9b8cff8b9d0f8bbd1f7bcd1f6bdd2f6bed3f5c0d3f5c1d4f4c2d4f3c3d5f2c5d5f2c6d6f1c7d6f0c8d7efc9d7eecad8eeccd8edcdd9ecced9ebcfd9ead0dae9d1dae8d2dae7d3dbe6d5dbe5d6dbe4d7dbe2d8dbe1d9dce0dadcdfdbdcdedcdcdddddcdbdedbdadfdbd9e0dad7e1dad6e2d9d4e3d9d3e4d8d1e5d8d0e6d7cfe7d6cde7d6cce8d5cae9d4c9ead3c7ebd3c6ecd2c4ecd1c3edd0c1edcfc0eecfbeefcebcefcdbbf0ccb9f1cbb8f1cab6f2c9b5f2c8b3f2c7b2f3c6b0f3c5aff4c4adf4c3abf4c2aaf5c1a8f5c0a7f5bfa5f6bda4f6bca2f6bba0f6ba9ff6b99df6b79cf6b69af7b598f7b397f7b295f7b194f7b092f7ae91f7ad8ff6ab8df6aa8cf6a98af6a789f6a687f6a486f6a384f5a182f5a081f59e7ff49d7ef49b7cf49a7bf39879f39678f39576f29375f29173f19072f18e70f08d6ff08b6def896cee876aee8669ed8467ec8266ec8064eb7f63ea7d61ea7b60e9795ee8775de7755ce6745ae67259e57057e46e56e36c54e26a53e16852e06650df644fde624edd604cdc5e4bdb5c4ada5a48d95847d85646d75444d65243d44f42d34d40d24b3fd1493ecf463dce443ccd423acc3f39ca3d38c93b37c83835c63534c53233c43032c22d31c12a30bf282ebe232dbc1f2cbb1a2bb9162ab81129b60d28b50827b30326",
  cividis: "00224d00234f00235000245200255400265500265700275900285b00285c00295e002a60002a62002b64002c66002c67002d69002e6b002f6d002f6f0030700030700031700031700432700833700b33700e347011356f14366f16366f18376f1a386f1c386e1d396e1f3a6e213b6e223b6e243c6e253d6d273d6d283e6d2a3f6d2b3f6d2c406d2e416c2f426c30426c31436c32446c34446c35456c36466c37466c38476c39486c3a486b3b496b3d4a6b3e4b6b3f4b6b404c6b414d6b424d6b434e6b444f6b454f6b46506b47516b48516b49526b4a536b4b546c4c546c4d556c4e566c4e566c4f576c50586c51586c52596c535a6c545a6c555b6d565c6d575d6d585d6d595e6d595f6d5a5f6d5b606e5c616e5d616e5e626e5f636e60646e61646f61656f62666f63666f64676f656870666970676970686a70686b71696b716a6c716b6d716c6d726d6e726e6f726e70736f70737071737172737273747373747474757475757575757676767777767878767978777979777a7a777b7b777c7b787d7c787e7d787f7d78807e78817f788280788380788481788582788583788683788784788885788986788a86788b87788c88788d89788e89788f8a77908b77918c77928c77938d77948e77958f77968f779790769891769992769a93769b93769c94769d95759e96759f9675a09775a19874a29974a39a74a49a74a59b73a69c73a79d73a89e73a99e72aa9f72aba072aca171ada271aea271afa370b0a470b1a570b2a66fb3a66fb4a76fb5a86eb6a96eb7aa6db8ab6db9ab6dbaac6cbbad6cbcae6bbdaf6bbeb06abfb06ac1b169c2b269c3b368c4b468c5b567c6b567c7b666c8b765c9b865cab964cbba64ccbb63cdbc62cebc62cfbd61d0be60d2bf60d3c05fd4c15ed5c25ed6c35dd7c35cd8c45bd9c55adac65adbc759dcc858dec957dfca56e0cb55e1cc54e2cc53e3cd52e4ce51e5cf50e6d04fe8d14ee9d24dead34cebd44becd54aedd648eed747efd846f1d944f2da43f3da42f4db40f5dc3ff6dd3df8de3bf9df3afae038fbe136fde234fde333fde534fde636fde737"
};

// src/paint/colours.ts
var MAPS = ["gray", "viridis", "magma", "cividis", "turbo", "coolwarm"];
if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) {
  throw new Error("The viewer needs a little-endian machine.");
}
var INVALID = 0;
function rgb(red, green, blue) {
  return (4278190080 | blue << 16 | green << 8 | red) >>> 0;
}
var made = /* @__PURE__ */ new Map();
function colourMap(name) {
  let table = made.get(name);
  if (!table) {
    const hex = HEX[name];
    table = Uint32Array.from({ length: 256 }, (_4, index) => {
      if (!hex) return rgb(index, index, index);
      const at = (offset) => Number.parseInt(hex.slice(6 * index + offset, 6 * index + offset + 2), 16);
      return rgb(at(0), at(2), at(4));
    });
    made.set(name, table);
  }
  return table;
}
function ofHue(hue) {
  const part = (shift) => {
    const h5 = (shift + hue * 6) % 6;
    return Math.floor(255 * (1 - Math.max(0, Math.min(h5, 4 - h5, 1))) + 0.5);
  };
  return [part(5), part(3), part(1)];
}
function ofHex(text) {
  const match = /^#?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text);
  return match ? [Number.parseInt(match[1], 16), Number.parseInt(match[2], 16), Number.parseInt(match[3], 16)] : [255, 255, 255];
}

// src/ui/text.ts
function bytes(count) {
  if (count === null || count === void 0) return "unknown";
  let value = count;
  for (const unit of ["B", "KiB", "MiB", "GiB", "TiB"]) {
    if (value < 1024) return `${unit === "B" ? value : value.toPrecision(3)} ${unit}`;
    value /= 1024;
  }
  return `${value.toPrecision(3)} PiB`;
}
function number(value) {
  if (value === null || value === void 0) return "none";
  if (typeof value === "string") return value;
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  return String(Number(value.toPrecision(6)));
}
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

// src/chunkmap.ts
var MEASURES = ["bytes", "ratio", "age"];
var MAP = "viridis";
var ChunkMap = class {
  constructor(viewer, pane, measure) {
    this.viewer = viewer;
    this.pane = pane;
    this.measure = measure;
  }
  viewer;
  pane;
  measure;
  grid = y3(null);
  failure = y3("");
  key = "";
  abort = null;
  /** Asks for the chunks of the plane that is seen, once. */
  want(again) {
    const { viewer, pane } = this;
    const { y: y5, x: x3 } = pane.axes.value;
    const sel = viewer.selectionOf(pane, null);
    const key = `${y5},${x3} ${sel}`;
    if (key === this.key) return;
    this.key = key;
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    viewer.api.chunks({ path: pane.node.path, sel, axes: `${y5},${x3}`, of: this.measure }, abort.signal).then((grid2) => {
      this.grid.value = grid2;
      this.failure.value = "";
      again();
    }).catch((error) => {
      if (abort.signal.aborted) return;
      this.grid.value = null;
      this.failure.value = error instanceof Error ? error.message : String(error);
      viewer.note(error);
      again();
    });
  }
  /** A request that failed is made once more when the map is drawn. */
  askAgain() {
    if (this.failure.value) this.key = "";
  }
  dispose() {
    this.abort?.abort();
  }
  /** The borders of what is coloured: chunks, or shards. */
  cuts(grid2) {
    const { node, axes } = this.pane;
    const { y: y5 = 0, x: x3 = 0 } = axes.value;
    const lengths2 = grid2.unit === "shard" && node.shards ? node.shards : node.chunks;
    return [chunkCuts(node.shape[y5], lengths2[y5]), chunkCuts(node.shape[x3], lengths2[x3])];
  }
  /** From the least to the greatest number; null where no chunk is stored. */
  get range() {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const value of this.grid.value?.values ?? []) {
      if (value === null) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low > high ? null : [low, high];
  }
  /** The number of the chunk of an element; undefined where it is not known. */
  at(row, column) {
    const grid2 = this.grid.value;
    if (!grid2) return void 0;
    const [rows, columns] = this.cuts(grid2);
    return numberOf(grid2, rows.find(row), columns.find(column));
  }
  /** What the colours mean, in words. */
  get described() {
    const grid2 = this.grid.value;
    if (this.failure.value) return this.failure.value;
    if (!grid2) return "";
    const { range } = this;
    const missing = grid2.values.filter((value) => value === null).length;
    const count = `${grid2.values.length - missing} of ${grid2.values.length} ${grid2.unit}s stored`;
    const what = { bytes: "stored bytes", ratio: "decoded bytes for each stored one", age: "last change" }[this.measure];
    if (!range) return count;
    const [low, high] = range.map((value) => this.text(value));
    const ends = this.measure === "age" ? `${low} (dark) to ${high} (bright)` : `${low} to ${high}`;
    return `${what}, ${ends}; ${count}`;
  }
  text(value) {
    if (this.measure === "bytes") return bytes(value);
    if (this.measure === "ratio") return `${value.toPrecision(3)}`;
    return new Date(value * 1e3).toISOString().slice(0, 16).replace("T", " ");
  }
};
function numberOf(grid2, row, column) {
  const { rows, columns, values } = grid2;
  return values[(row - rows[0]) * (columns[1] - columns[0]) + (column - columns[0])];
}
function levelOf(value, [low, high]) {
  return high > low ? Math.min(255, Math.floor((value - low) / (high - low) * 256)) : 255;
}
function drawChunks(context, view, map) {
  const grid2 = map.grid.value;
  const { range } = map;
  if (!grid2 || !range) return;
  const { height, width } = map.pane.extent;
  const [rows, columns] = map.cuts(grid2);
  const colours2 = colourMap(MAP);
  context.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const tile of tilesIn(visible(view, height, width), rows, columns)) {
    const value = numberOf(grid2, rows.find(tile.y0), columns.find(tile.x0));
    if (value === null || value === void 0) continue;
    const level = levelOf(value, range);
    const colour = colours2[level];
    context.fillStyle = `rgb(${colour & 255}, ${colour >> 8 & 255}, ${colour >> 16 & 255})`;
    const place = onScreen(view, tile);
    context.fillRect(place.left, place.top, place.width, place.height);
    label(context, place, map.text(value), level < 140 ? "#ffffff" : "#000000");
  }
}
function label(context, { left, top, width, height }, text, colour) {
  if (height < 18 * devicePixelRatio || context.measureText(text).width > width - 8 * devicePixelRatio) return;
  context.fillStyle = colour;
  context.fillText(text, left + width / 2, top + height / 2);
}

// src/connection.ts
var RETRY_MS = 1e3;
var Connection = class {
  /** `onBack` is called when a lost server answers again, `onError` if that answer is a failure. */
  constructor(api, onBack, onError) {
    this.api = api;
    this.onBack = onBack;
    this.onError = onError;
  }
  api;
  onBack;
  onError;
  /** What the server says of itself, once it has answered. */
  hello = y3(null);
  offline = y3(false);
  timer;
  /** Asks the server who it is. */
  async greet() {
    const hello = await this.api.hello();
    this.hello.value = hello;
    return hello;
  }
  /** A request was not answered: asks once a second whether the server is back. */
  lost() {
    if (this.offline.value) return;
    this.offline.value = true;
    this.retry();
  }
  dispose() {
    clearTimeout(this.timer);
  }
  retry() {
    this.timer = setTimeout(() => void this.reconnect(), RETRY_MS);
  }
  async reconnect() {
    try {
      await this.greet();
    } catch (error) {
      if (error instanceof Unreachable) return this.retry();
      this.onError(error);
    }
    r3(() => {
      this.offline.value = false;
      this.onBack();
    });
  }
};

// src/labels.ts
function shortest2(value) {
  return String(Number(value.toPrecision(7)));
}
function withUnit(value, unit) {
  if (typeof value === "string") return value;
  const degrees2 = /^degrees?_?(north|n|east|e)$/i.exec(unit ?? "");
  if (!degrees2) return `${shortest2(value)}${unit && unit !== "1" ? ` ${symbol(unit)}` : ""}`;
  const isNorth = /^n/i.test(degrees2[1]);
  const side = value === 0 ? "" : isNorth ? value > 0 ? "N" : "S" : value > 0 ? "E" : "W";
  return `${shortest2(Math.abs(value))}°${side}`;
}
var SYMBOLS = {
  micrometer: "µm",
  micron: "µm",
  nanometer: "nm",
  millimeter: "mm",
  centimeter: "cm",
  meter: "m",
  metre: "m",
  kilometer: "km",
  kilometre: "km",
  second: "s",
  millisecond: "ms",
  angstrom: "Å",
  degrees: "°",
  degree: "°"
};
function symbol(unit) {
  return SYMBOLS[unit.toLowerCase()] ?? unit;
}
var METRES = {
  angstrom: 1e-10,
  nanometer: 1e-9,
  nm: 1e-9,
  micrometer: 1e-6,
  micron: 1e-6,
  um: 1e-6,
  µm: 1e-6,
  millimeter: 1e-3,
  mm: 1e-3,
  centimeter: 0.01,
  cm: 0.01,
  meter: 1,
  metre: 1,
  m: 1,
  kilometer: 1e3,
  kilometre: 1e3,
  km: 1e3
};
function unitOf(unit) {
  const name = (unit ?? "").toLowerCase();
  const size = METRES[name] ?? METRES[name.replace(/s$/, "")];
  if (size !== void 0) return { of: "length", size };
  return { of: /^degrees?(_(north|n|east|e))?$/.test(name) ? "degrees" : name, size: 1 };
}
function numberAt(labels, position) {
  if (labels.step !== void 0) return (labels.begin ?? 0) + labels.step * position;
  const { labels: listed } = labels;
  if (!listed || labels.kind !== "number" || !listed.length) return null;
  const low = Math.max(0, Math.min(listed.length - 1, Math.floor(position)));
  const high = Math.min(listed.length - 1, low + 1);
  const [one, two] = [listed[low], listed[high]];
  if (typeof one !== "number" || typeof two !== "number") return null;
  return one + (two - one) * (position - low);
}
function labelAt(labels, index) {
  if (!labels) return null;
  if (labels.step !== void 0) return withUnit(numberAt(labels, index), labels.unit);
  if (labels.times) return timeText(labels.times.begin + labels.times.step * index);
  const label2 = labels.labels?.[index];
  return label2 === null || label2 === void 0 ? null : withUnit(label2, labels.unit);
}
function timeText(milliseconds) {
  const [date, clock] = new Date(milliseconds).toISOString().slice(0, -1).split("T");
  return clock === "00:00:00.000" ? date : `${date}T${clock.replace(/\.?0+$/, "")}`;
}
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10) * power;
}
function ticksOf(labels, first, end, every) {
  const low = Math.max(0, Math.ceil(first));
  const high = Math.floor(end);
  const numeric = labels && labels.kind === "number" ? numericTicks(labels, first - 0.5, end - 0.5, every) : null;
  if (numeric) return numeric;
  const step = Math.max(1, niceStep(every));
  const ticks2 = [];
  for (let index = Math.ceil(low / step) * step; index < high; index += step) {
    ticks2.push({ at: index + 0.5, text: labelAt(labels, index) ?? String(index) });
  }
  return ticks2;
}
function numericTicks(labels, first, last, every) {
  const [one, two] = [numberAt(labels, first), numberAt(labels, last)];
  if (one === null || two === null || one === two || !Number.isFinite(one + two)) return null;
  const { unit } = labels;
  const span = Math.abs(two - one);
  const least = span * every / Math.max(1e-9, last - first);
  const isDegrees = /^degree/i.test(unit ?? "");
  const step = (isDegrees && least > 5 ? [10, 15, 30, 45, 60, 90, 120, 180].find((nice) => nice >= least) : void 0) ?? niceStep(least);
  const ticks2 = [];
  const [low, high] = [Math.min(one, two), Math.max(one, two)];
  for (let count = Math.ceil(low / step - 1e-9); count * step <= high * (1 + 1e-12) + step * 1e-9 && ticks2.length < 50; count++) {
    const value = count * step;
    const at = positionOf(labels, value, first, last);
    if (at === null) return null;
    ticks2.push({ at: at + 0.5, text: isDegrees ? withUnit(value, unit) : shortest2(value) });
  }
  return ticks2;
}
function positionOf(labels, value, first, last) {
  if (labels.step !== void 0) return labels.step === 0 ? null : (value - (labels.begin ?? 0)) / labels.step;
  let [low, high] = [first, last];
  const isGrowing = (numberAt(labels, high) ?? 0) > (numberAt(labels, low) ?? 0);
  for (let round2 = 0; round2 < 40; round2++) {
    const middle = (low + high) / 2;
    const found = numberAt(labels, middle);
    if (found === null) return null;
    if (found < value === isGrowing) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

// src/range.ts
var CLIPPED = 1;
var MOST_SORTED = 2 ** 18;
var FAR = 50;
function rangeOf2(tiles, look, clip = 0) {
  const { kind, transform } = look;
  const isPair = kind === "flow" || kind === "complex";
  const isLog = kind === "complex" && transform === "log";
  if (isPair && !isLog && !clip) {
    const largest = Math.max(-1, ...tiles.map(({ tile, layout }) => largestPair(tile, layout)));
    return largest < 0 ? null : [0, largest || 1];
  }
  const ends = clip || isLog ? percentiles(sorted(tiles, look), clip) : extremes2(tiles);
  if (!ends) return isLog ? rangeOf2(tiles, { kind, transform: "linear" }) : null;
  const [low, high] = ends;
  if (isPair && !isLog) return [0, high || 1];
  if (look.even) {
    const far = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return [-far, far];
  }
  return low === high ? [low, low + 1] : [low, high];
}
function isSpread(tiles) {
  const found = sorted(tiles, { kind: "complex", transform: "log" });
  const largest = Math.max(-1, ...tiles.map(({ tile, layout }) => largestPair(tile, layout)));
  return found.length > 0 && largest > FAR * found[found.length >> 1];
}
function extremes2(tiles) {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { tile } of tiles) {
    if (tile.min === null || tile.max === null) continue;
    low = Math.min(low, toNumber(tile.min));
    high = Math.max(high, toNumber(tile.max));
  }
  return low > high ? null : [low, high];
}
function percentiles(values, clip) {
  if (!values.length) return null;
  const last = values.length - 1;
  const at = Math.floor(last * clip / 100);
  return [values[at], values[last - at]];
}
function sorted(tiles, { kind, transform }) {
  const least = transform === "linear" ? Number.NEGATIVE_INFINITY : 0;
  const isPair = kind === "flow" || kind === "complex";
  const count = tiles.reduce((sum, { layout }) => sum + layout.height * layout.width, 0);
  const found = [];
  for (const { tile, layout } of tiles) {
    const { height, width, sy, sx, sc, channels } = layout;
    const numbers2 = numbersOf(tile.type);
    const bits = asBits(tile.data);
    const at = (index) => numbers2 ? numbers2[bits[index]] : bits[index];
    const colours2 = kind === "rgb" ? Math.min(3, channels) : 1;
    const every = apart(Math.ceil(count * colours2 / MOST_SORTED), width);
    for (let pixel = 0; pixel < height * width; pixel += every) {
      const index = Math.floor(pixel / width) * sy + pixel % width * sx;
      for (let c4 = 0; c4 < colours2; c4++) {
        const value = isPair ? Math.sqrt(at(index) ** 2 + at(index + sc) ** 2) : at(index + c4 * sc);
        if (value > least && value < Number.POSITIVE_INFINITY) found.push(value);
      }
    }
  }
  return Float64Array.from(found).sort();
}
function apart(least, width) {
  const common = (a5, b3) => b3 ? common(b3, a5 % b3) : a5;
  let found = Math.max(1, least);
  while (common(found, width) > 1) found++;
  return found;
}
function channelRange(tiles, channel) {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { tile, layout } of tiles) {
    const { height, width, sy, sx, sc } = layout;
    const numbers2 = numbersOf(tile.type);
    const bits = asBits(tile.data);
    for (let y5 = 0; y5 < height; y5++) {
      for (let x3 = 0, at = y5 * sy + channel * sc; x3 < width; x3++, at += sx) {
        const value = numbers2 ? numbers2[bits[at]] : bits[at];
        if (value < low && value > Number.NEGATIVE_INFINITY) low = value;
        if (value > high && value < Number.POSITIVE_INFINITY) high = value;
      }
    }
  }
  if (low > high) return null;
  return low === high ? [low, low + 1] : [low, high];
}
function largestPair({ type, data }, { height, width, sy, sx, sc }) {
  const numbers2 = numbersOf(type);
  const bits = asBits(data);
  let largest = -1;
  for (let y5 = 0; y5 < height; y5++) {
    for (let x3 = 0, at = y5 * sy; x3 < width; x3++, at += sx) {
      const u4 = numbers2 ? numbers2[bits[at]] : bits[at];
      const v4 = numbers2 ? numbers2[bits[at + sc]] : bits[at + sc];
      const square = u4 * u4 + v4 * v4;
      if (square > largest && square < Number.POSITIVE_INFINITY) largest = square;
    }
  }
  return largest < 0 ? -1 : Math.sqrt(largest);
}

// src/pane.ts
var Pane = class _Pane {
  constructor(node, state) {
    this.node = node;
    const { guess } = node;
    const kind = state.kind && allKinds(node).includes(state.kind) ? state.kind : guess.kind;
    this.kind = y3(kind);
    this.axes = y3(checkedAxes(state.axes, node) ?? axesFor(node, kind));
    this.field = y3(state.field ?? (kind === "struct" ? void 0 : node.fields?.[0]?.name));
    this.range = y3(state.range ?? (state.clip === void 0 ? usualRange(guess, kind) : null));
    this.clip = y3(state.clip ?? 0);
    this.perFrame.value = state.eachFrame ?? false;
    this.map = y3(state.map && MAPS.includes(state.map) ? state.map : usualMap(kind));
    this.transform = y3(state.transform === "inverse" || state.transform === "log" ? state.transform : "linear");
    this.scaleChosen = state.transform !== void 0 || this.range.value !== null;
    this.outlines.value = state.outlines ?? false;
    this.raw = y3(state.raw ?? false);
    this.showCoast.value = state.coast ?? true;
    this.cross = state.cross ?? false;
    this.ownView = y3(state.view ?? null);
    this.projection = y3(checkedProjection(state.projection, node, this.axes.value));
    this.upright.value = state.upright;
    const usual = usualChannels(node, this.axes.value);
    this.channels = y3(usual.map((channel, at) => ({ ...channel, ...state.channels?.[at] })));
  }
  node;
  static numbers = 0;
  id = _Pane.numbers++;
  kind;
  axes;
  field;
  /** null: from the smallest to the largest finite value of the first frame that is seen. */
  range;
  /** The range in use, where `range` is null. */
  found = y3(null);
  perFrame = y3(false);
  /** The percentage of values that an automatic range leaves out at each end. */
  clip;
  map;
  transform;
  scaleChosen;
  outlines = y3(false);
  channels;
  /** The ranges in use of channels of which none is chosen. */
  foundChannels = y3([]);
  /** What the numbers of tiles are differences from. */
  origin = y3(null);
  ready = y3(false);
  message = y3("");
  quality = y3("");
  /** The plane is so long that only its first part is seen. */
  exceeds = y3(false);
  /** A projection reads only every n-th plane. */
  every = y3(1);
  /** Missing chunks look like stored ones, because the server has not said which they are. */
  hidesMissing = y3(false);
  stored = y3(null);
  /** What `stored` is the answer to, and whether it could not be had. */
  storedKey = "";
  storedFailed = false;
  /** Labels of the axes, once they are known. */
  labels = y3(null);
  /** Stored values are shown, not what they mean. */
  raw;
  /** The user's choice of which way is up; undefined: north is, where that is known. */
  upright = y3(void 0);
  /** The axis along which the largest, smallest or mean value is shown; null: one plane is. */
  projection;
  /** A second array in this picture. */
  over = y3(null);
  /** Coast lines are drawn, where the plane is one of latitude and longitude. */
  showCoast = y3(true);
  /** The map of its chunks that is shown instead of the picture. */
  chunkMap = y3(null);
  /** One of three planes through a point: a click moves the point. */
  cross;
  /** The scale at which this plane fits into its canvas, once it was drawn. */
  fits = Number.POSITIVE_INFINITY;
  /** The view of one of three planes, which are not the same plane. */
  ownView;
  /** Coordinates and arrays of the same scene, once they are known. */
  related = y3(null);
  /** Looks as another pane does, now and later: three planes of an array have one range. */
  lookAs(other) {
    this.range = other.range;
    this.found = other.found;
    this.clip = other.clip;
    this.map = other.map;
    this.transform = other.transform;
    this.channels = other.channels;
    this.foundChannels = other.foundChannels;
  }
  /** Whether values are decoded by the CF conventions. */
  get decodes() {
    return this.node.decodes && !this.raw.value && !["labels", "mask"].includes(this.kind.value);
  }
  /** How values are asked for. */
  get form() {
    return this.decodes ? "cf" : "raw";
  }
  /** Whether the first row is at the bottom: latitudes that grow have north at the top. */
  flipped = O(() => {
    if (this.upright.value !== void 0) return !this.upright.value;
    const { y: y5 } = this.axes.value;
    const labels = y5 === void 0 ? null : this.labels.value?.[y5];
    if (!labels?.north) return false;
    if (labels.step !== void 0) return labels.step > 0;
    const numbers2 = (labels.labels ?? []).filter((label2) => typeof label2 === "number");
    return numbers2.length > 1 && numbers2[0] < numbers2[numbers2.length - 1];
  });
  get picture() {
    return PICTURES.includes(this.kind.value);
  }
  /** Whether the array has no element. */
  get isEmpty() {
    return this.node.shape.includes(0);
  }
  /** Height and width of the plane, in elements. */
  get extent() {
    const { y: y5, x: x3 } = this.axes.value;
    const of = (axis) => axis === void 0 ? 1 : this.node.shape[axis];
    return { height: of(y5), width: of(x3) };
  }
  /** The tiles' type, of the field if there are fields. */
  get tileType() {
    const { fields, tile } = this.node;
    return fields ? fields.find(({ name }) => name === this.field.value)?.tile ?? null : tile;
  }
  get channelCount() {
    if (this.node.components > 1) return this.node.components;
    const { c: c4 } = this.axes.value;
    return typeof c4 === "number" ? this.node.shape[c4] : 1;
  }
  look = O(() => ({
    ...this.over.value?.mode === "difference" && { even: true },
    kind: PICTURES.includes(this.kind.value) ? this.kind.value : "gray",
    range: this.range.value ?? this.found.value ?? [0, 1],
    map: this.map.value,
    transform: this.transform.value,
    outlines: this.outlines.value,
    channels: this.channels.value.map((channel, at) => ({
      ...channel,
      range: channel.range ?? this.foundChannels.value[at] ?? [0, 1]
    }))
  }));
  dimension(axis) {
    return dimensionName(this.node, axis);
  }
  /** A place on an axis as text: its label and its index. */
  placeOf(axis, index) {
    const label2 = labelAt(this.labels.value?.[axis], index);
    return label2 === null ? `${this.dimension(axis)}=${index}` : `${this.dimension(axis)} ${label2} [${index}]`;
  }
  /** What a projection shows, in words. */
  get projected() {
    const projection = this.projection.value;
    if (!projection) return "";
    const what = { max: "largest", min: "smallest", mean: "mean" }[projection.how];
    return `${what} along ${this.dimension(projection.axis)}`;
  }
  /** The axes that have sliders: not shown, and not those of a table or curve. */
  get otherAxes() {
    const { y: y5, x: x3, c: c4 } = this.axes.value;
    const along = this.projection.value?.axis;
    return this.node.shape.map((_4, axis) => axis).filter((axis) => ![y5, x3, c4, along].includes(axis));
  }
  /** Axes along which a projection is possible. */
  get depths() {
    const { y: y5, x: x3, c: c4 } = this.axes.value;
    if (this.node.components > 1 || /^(datetime|timedelta)/.test(this.node.dtype)) return [];
    if (!this.picture || this.kind.value === "labels") return [];
    return this.node.shape.map((_4, axis) => axis).filter((axis) => ![y5, x3, c4].includes(axis) && this.node.shape[axis] > 1);
  }
  /** How many planes of an array of these axes one picture reads. */
  depthOf({ shape }) {
    const along = this.projection.value?.axis;
    return along === void 0 ? 1 : shape[along];
  }
  project(projection) {
    r3(() => {
      this.projection.value = projection;
      if (this.over.value?.mode === "difference") this.setOver(null);
      this.forgetRanges();
    });
  }
  setOver(over) {
    const before = this.over.value;
    r3(() => {
      this.over.value = over;
      if (before?.mode !== "difference" && over?.mode !== "difference") return;
      this.projection.value = null;
      this.forgetRanges();
      this.range.value = over?.mode === "difference" ? null : this.range.value;
      this.transform.value = "linear";
      this.map.value = over?.mode === "difference" ? "coolwarm" : usualMap(this.kind.value);
    });
  }
  forgetRanges() {
    this.range.value = this.clip.value ? null : usualRange(this.node.guess, this.kind.value);
    this.found.value = null;
    this.foundChannels.value = [];
    this.origin.value = null;
  }
  /**
   * Depth from near to a distant horizon, and magnitudes far apart, are seen on a logarithmic scale; the user's
   * choice stays. Whether the scale is another one now.
   */
  adaptScale([low, high], isSpread2) {
    const before = this.transform.value;
    if (this.scaleChosen) return false;
    if (this.kind.value === "depth" && low > 0) this.transform.value = high / low > 30 ? "log" : "linear";
    if (this.kind.value === "complex" && before === "linear" && isSpread2()) {
      this.clip.value = CLIPPED;
      this.setTransform("log");
    }
    return this.transform.value !== before;
  }
  /** Changes the scale. Magnitudes then have another automatic range, as has what leaves out extremes. */
  setTransform(transform) {
    r3(() => {
      this.transform.value = transform;
      if (this.kind.value === "complex" || this.clip.value) this.found.value = null;
    });
  }
  /** Begins the range at the values of the next picture, without so many percent of them at each end. */
  findRange(clip = 0) {
    r3(() => {
      this.clip.value = clip;
      this.range.value = null;
      this.found.value = null;
    });
  }
  setKind(kind) {
    r3(() => {
      this.kind.value = kind;
      this.axes.value = axesFor(this.node, kind);
      this.projection.value = null;
      this.over.value = null;
      this.range.value = usualRange(this.node.guess, kind);
      this.found.value = null;
      this.map.value = usualMap(kind);
      this.transform.value = "linear";
      this.scaleChosen = false;
      this.clip.value = 0;
      this.channels.value = usualChannels(this.node, this.axes.value);
      this.foundChannels.value = [];
      if (PICTURES.includes(kind)) this.field.value ??= this.node.fields?.[0]?.name;
    });
  }
  toState() {
    const state = { path: this.node.path };
    const { kind, axes } = this;
    if (kind.value !== this.node.guess.kind) state.kind = kind.value;
    if (JSON.stringify(axes.value) !== JSON.stringify(axesFor(this.node, kind.value))) state.axes = axes.value;
    const usual = usualRange(this.node.guess, kind.value);
    if (this.range.value && JSON.stringify(this.range.value) !== JSON.stringify(usual)) state.range = this.range.value;
    if (this.map.value !== usualMap(kind.value)) state.map = this.map.value;
    const adapts = (kind.value === "depth" || kind.value === "complex") && !this.range.value;
    if (this.transform.value !== "linear" || adapts && this.scaleChosen) state.transform = this.transform.value;
    if (!this.range.value && (this.clip.value || usual)) state.clip = this.clip.value;
    if (this.perFrame.value) state.eachFrame = true;
    if (this.outlines.value) state.outlines = true;
    if (this.raw.value) state.raw = true;
    if (kind.value === "channels") {
      const chosen = this.channels.value;
      const known = usualChannels(this.node, axes.value);
      if (JSON.stringify(chosen) !== JSON.stringify(known)) state.channels = chosen;
    }
    if (this.projection.value) state.projection = this.projection.value;
    if (this.over.value) state.over = this.over.value.toState();
    if (this.chunkMap.value) state.chunks = this.chunkMap.value.measure;
    if (!this.showCoast.value) state.coast = false;
    if (this.cross) state.cross = true;
    if (this.ownView.value) state.view = this.ownView.value;
    if (this.upright.value !== void 0) state.upright = this.upright.value;
    if (this.field.value !== void 0 && this.field.value !== this.node.fields?.[0]?.name) state.field = this.field.value;
    return state;
  }
};
function dimensionName(node, axis) {
  return node.dims?.[axis] || `axis ${axis}`;
}
function allKinds(node) {
  return node.kinds.length ? node.kinds : [node.guess.kind];
}
function checkedAxes(axes, node) {
  if (!axes) return null;
  const given2 = [axes.y, axes.x, axes.c].filter((axis) => typeof axis === "number");
  const valid = given2.every((axis) => Number.isInteger(axis) && axis >= 0 && axis < node.shape.length);
  return valid && new Set(given2).size === given2.length ? axes : null;
}
function checkedProjection(projection, { shape, components }, { y: y5, x: x3, c: c4 }) {
  if (!projection || components > 1) return null;
  const { axis } = projection;
  return axis >= 0 && axis < shape.length && ![y5, x3, c4].includes(axis) ? projection : null;
}
function axesFor(node, kind) {
  const { guess, shape } = node;
  const rank = shape.length;
  if (kind === guess.kind) return guess.axes;
  const { y: y5 = rank - 2, x: x3 = rank - 1 } = guess.axes;
  if (rank < 2) return kind === "line" || rank === 1 ? { x: 0 } : {};
  if (kind === "line") return { x: x3 };
  const fits = (axis) => {
    const length = shape[axis];
    if (kind === "rgb") return length === 3 || length === 4;
    if (kind === "flow") return length === 2;
    return kind === "channels" && length <= 8;
  };
  if (kind === "rgb" || kind === "flow" || kind === "channels") {
    const candidates = shape.map((_4, axis) => axis).filter((axis) => axis !== y5 && axis !== x3 && fits(axis));
    if (candidates.length) return { y: y5, x: x3, c: candidates[candidates.length - 1] };
    if (rank >= 3 && fits(rank - 1)) return { y: rank - 3, x: rank - 2, c: rank - 1 };
  }
  return { y: y5, x: x3, c: null };
}
function usualRange(guess, kind) {
  if (kind === guess.kind) return guess.range;
  return kind === "flow" || kind === "depth" || kind === "complex" ? null : guess.range;
}
function usualMap(kind) {
  return kind === "depth" ? "turbo" : "gray";
}
var CHANNEL_COLOURS = ["#ff0000", "#00ff00", "#0000ff", "#ffffff", "#ff00ff", "#00ffff", "#ffff00", "#ff8000"];
function usualChannels(node, axes) {
  const count = typeof axes.c === "number" ? Math.min(8, node.shape[axes.c]) : 1;
  const known = node.guess.channels ?? [];
  return Array.from({ length: count }, (_4, index) => ({
    range: known[index]?.range ?? node.guess.range,
    color: known[index]?.color ?? CHANNEL_COLOURS[index % 8],
    active: known[index]?.active ?? true,
    gamma: 1
  }));
}

// src/over.ts
var MODES = ["labels", "blink", "difference"];
var Over = class {
  constructor(base, node, mode, state) {
    this.base = base;
    this.mode = mode;
    const kind = mode === "labels" ? "labels" : base.kind.value;
    this.pane = new Pane(node, { path: node.path, kind, axes: axesOver(base, node), raw: base.raw.value });
    if (mode === "labels") this.pane.kind.value = "labels";
    this.opacity = y3(state.opacity ?? 0.5);
    this.outlines = y3(state.outlines ?? true);
    this.byHand = y3(matchMedia("(prefers-reduced-motion: reduce)").matches);
  }
  base;
  mode;
  /** The second array, with the axes of the first one. */
  pane;
  /** Of labels, from 0 to 1; their outlines are opaque. */
  opacity;
  outlines;
  /** Of two arrays that take turns, the second one is seen. */
  isSecond = y3(false);
  /** The turns are taken by hand. */
  byHand;
  toState() {
    return { path: this.pane.node.path, mode: this.mode, opacity: this.opacity.value, outlines: this.outlines.value };
  }
  /** The index of the second array that belongs to one of the first. */
  indexOf(index) {
    const { base, pane } = this;
    const theirs = pane.node.shape.map((_4, axis) => axis).filter((axis) => !isShown(pane.axes.value, axis));
    const own = base.node.shape.map((_4, axis) => axis).filter((axis) => !isShown(base.axes.value, axis));
    return pane.node.shape.map((length, axis) => Math.min(length - 1, index[own[theirs.indexOf(axis)]] ?? 0));
  }
  /** The element of the second array at a place of the first one's plane, as an index with commas. */
  placeOf(index, row, column) {
    const { base, pane } = this;
    const found = this.indexOf(index);
    const { y: y5, x: x3 } = pane.axes.value;
    if (y5 !== void 0) found[y5] = Math.floor((row + 0.5) * pane.extent.height / base.extent.height);
    if (x3 !== void 0) found[x3] = Math.floor((column + 0.5) * pane.extent.width / base.extent.width);
    return found.join(",");
  }
};
function isShown({ y: y5, x: x3, c: c4 }, axis) {
  return axis === y5 || axis === x3 || axis === c4;
}
function axesOver(base, node) {
  const { y: y5, x: x3, c: c4 } = base.axes.value;
  const rank = node.shape.length;
  if (rank === base.node.shape.length) {
    const isSame = typeof c4 === "number" && node.shape[c4] === base.node.shape[c4];
    return { y: y5, x: x3, c: isSame ? c4 : null };
  }
  if (typeof c4 === "number" && rank === base.node.shape.length - 1 && y5 !== void 0 && x3 !== void 0) {
    return { y: y5 - (c4 < y5 ? 1 : 0), x: x3 - (c4 < x3 ? 1 : 0), c: null };
  }
  return { ...node.guess.axes, c: null };
}
function modesOf(base, { shape, dtype, guess }) {
  const found = [];
  if (/^u?int\d+$/.test(dtype) && guess.kind !== "rgb") found.push("labels");
  if (JSON.stringify(shape) !== JSON.stringify(base.node.shape)) return found;
  found.push("blink");
  if (["gray", "depth", "rgb"].includes(base.kind.value) && !/^(complex|datetime|timedelta)/.test(dtype)) found.push("difference");
  return found;
}
function subtracted(one, other) {
  if (one.shape.join() !== other.shape.join() || one.headers["x-zarrix-cells"] !== other.headers["x-zarrix-cells"]) {
    throw new Error("The two arrays are stored in chunks of other shapes: zoom in to compare them.");
  }
  const shift = difference(one.origin?.count ?? "0", other.origin?.count ?? "0");
  const [bits, others] = [asBits(one.data), asBits(other.data)];
  const [table, otherTable] = [numbersOf(one.type), numbersOf(other.type)];
  const data = new Float32Array(bits.length);
  let [min2, max2] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < data.length; at++) {
    const value = (table ? table[bits[at]] : bits[at]) - (otherTable ? otherTable[others[at]] : others[at]) + shift;
    data[at] = value;
    if (value - value !== 0) continue;
    if (value < min2) min2 = value;
    if (value > max2) max2 = value;
  }
  const known = min2 <= max2;
  const damage = one.damage ?? other.damage;
  return { type: "f4", shape: one.shape, data, min: known ? min2 : null, max: known ? max2 : null, headers: one.headers, origin: null, damage };
}

// src/tiles.ts
var IN_FLIGHT = 6;
var CACHE_BYTES = 384 << 20;
var Tiles = class {
  constructor(api, onLoaded, onUnreachable) {
    this.api = api;
    this.onLoaded = onLoaded;
    this.onUnreachable = onUnreachable;
  }
  api;
  onLoaded;
  onUnreachable;
  entries = /* @__PURE__ */ new Map();
  flying = /* @__PURE__ */ new Map();
  wanted = /* @__PURE__ */ new Map();
  bytes = 0;
  /** The server cannot be reached: nothing is asked for until it is back. */
  stopped = false;
  loads = 0;
  /** The tile if it is there; it then counts as used. */
  get(key) {
    const entry = this.entries.get(key);
    if (entry) {
      this.entries.delete(key);
      this.entries.set(key, entry);
    }
    return entry;
  }
  has(key) {
    return this.entries.has(key);
  }
  /** Replaces what `owner` wants. */
  want(owner, requests) {
    const missing = requests.filter(({ key }) => !this.entries.has(key));
    if (missing.length) this.wanted.set(owner, missing);
    else this.wanted.delete(owner);
    const keys = new Set([...this.wanted.values()].flat().map(({ key }) => key));
    for (const [key, abort] of this.flying) {
      if (!keys.has(key)) {
        this.flying.delete(key);
        abort.abort();
      }
    }
    this.pump();
  }
  /** Forgets everything that was loaded for nodes whose values changed, or all. */
  clear() {
    this.entries.clear();
    this.bytes = 0;
  }
  /** Forgets failures, so that they are asked for again. */
  forgetErrors() {
    for (const [key, entry] of this.entries) if (entry.error !== null) this.entries.delete(key);
  }
  /** Adds the memory of a picture to what is counted. */
  grew(entry, bytes2) {
    entry.bytes += bytes2;
    this.bytes += bytes2;
    this.evict();
  }
  pump() {
    if (this.stopped) return;
    const lists = [...this.wanted.values()];
    const longest = Math.max(0, ...lists.map((list) => list.length));
    for (let turn = 0; turn < longest; turn++) {
      for (const list of lists) {
        if (this.flying.size >= IN_FLIGHT) return;
        const request = list[turn];
        if (request && !this.flying.has(request.key) && !this.entries.has(request.key)) this.fly(request);
      }
    }
  }
  fly(request) {
    const abort = new AbortController();
    this.flying.set(request.key, abort);
    const mine = () => this.flying.get(request.key) === abort;
    request.load(this.api, abort.signal).then((tile) => {
      if (!mine()) return;
      this.loads++;
      this.keep(request.key, { tile, error: null, canvas: null, painted: "", bytes: tile.data.byteLength });
    }).catch((error) => {
      if (!mine()) return;
      if (error instanceof Unreachable) {
        this.stopped = true;
        return this.onUnreachable();
      }
      const message = error instanceof Error ? error.message : String(error);
      this.keep(request.key, { tile: null, error: message, canvas: null, painted: "", bytes: 0 });
    }).finally(() => {
      if (!mine()) return;
      this.flying.delete(request.key);
      for (const [owner, list] of this.wanted) {
        const rest = list.filter(({ key }) => !this.entries.has(key));
        if (rest.length) this.wanted.set(owner, rest);
        else this.wanted.delete(owner);
      }
      this.onLoaded();
      this.pump();
    });
  }
  /** Goes on after the server could not be reached. */
  resume() {
    this.stopped = false;
    this.pump();
  }
  keep(key, entry) {
    this.entries.set(key, entry);
    this.bytes += entry.bytes;
    this.evict();
  }
  evict() {
    for (const [key, entry] of this.entries) {
      if (this.bytes <= CACHE_BYTES || this.entries.size <= 64) break;
      this.entries.delete(key);
      this.bytes -= entry.bytes;
    }
  }
};

// src/state.ts
function linkPlanes(panes) {
  const first = panes.find(({ cross }) => cross);
  for (const pane of panes) if (first && pane.cross && pane !== first && pane.node === first.node) pane.lookAs(first);
}
function placeIn(pane, row, column) {
  if (!pane || !pane.picture) return [];
  const { height, width } = pane.extent;
  return row < height && column < width ? [{ pane, row, column }] : [];
}
function lineState(line, panes) {
  return line ? [panes.indexOf(line.pane), line.from.row, line.from.column, line.to.row, line.to.column] : void 0;
}
var Viewer = class {
  constructor(api) {
    this.api = api;
    this.connection = new Connection(api, () => this.resume(), (error) => this.report(error));
    this.tiles = new Tiles(api, () => this.loaded.value++, () => this.connection.lost());
  }
  api;
  connection;
  panes = y3([]);
  active = y3(null);
  /** The node whose facts the side panel shows: an array that is not drawn, or a group. */
  node = y3(null);
  at = y3({});
  /** Centre in fractions, and CSS pixels for the width of a plane; null: each plane fits. */
  view = y3(null);
  cursor = y3(null);
  region = y3(null);
  /** The element whose series along an axis is shown. */
  series = y3(null);
  /** Elements whose series stay when another one is clicked. */
  pins = y3([]);
  /** The line whose values are shown, and whether a drag draws one. */
  line = y3(null);
  drawsLine = y3(false);
  showGrid = y3(false);
  showMissing = y3(true);
  /** The dimension that is played. */
  playing = y3(null);
  failure = y3("");
  /** What screen readers are told. */
  spoken = y3("");
  broken = y3([]);
  /** Outlines of windows that a loader would read, by path. */
  windows = y3(null);
  /** Grows when tiles were loaded, so that panes draw again. */
  loaded = y3(0);
  tiles;
  nodes = /* @__PURE__ */ new Map();
  /** What the server did not answer, and is asked for again when it is back. */
  unanswered = [];
  async start(fragment) {
    try {
      const hello = await this.connection.greet();
      const state = fromFragment(fragment);
      await this.restore(state, hello.first ?? (hello.root.kind === "array" ? hello.root.path : null));
    } catch (error) {
      this.report(error);
    }
  }
  async restore(state, first) {
    const wanted = state.panes.length ? state.panes : first !== null ? [{ path: first }] : [];
    const nodes = await Promise.allSettled(wanted.map(({ path }) => this.nodeAt(path)));
    const panes = [];
    const states = [];
    for (const [number2, result] of nodes.entries()) {
      if (result.status === "rejected") this.report(result.reason);
      else if (result.value.kind === "array") {
        panes.push(new Pane(result.value, wanted[number2]));
        states.push(wanted[number2]);
      } else this.node.value = result.value;
    }
    linkPlanes(panes);
    r3(() => {
      this.panes.value = panes;
      this.active.value = panes[0] ?? null;
      if (!this.node.value) this.node.value = panes[0]?.node ?? this.connection.hello.value?.root ?? null;
      this.at.value = state.at;
      this.view.value = state.view ?? null;
      this.showGrid.value = state.grid ?? false;
      this.showMissing.value = state.missing ?? true;
      this.forget();
      this.pins.value = (state.pins ?? []).flatMap(([at, row, column]) => placeIn(panes[at], row, column));
      const [from] = state.line ? placeIn(panes[state.line[0]], state.line[1], state.line[2]) : [];
      const [to] = state.line ? placeIn(panes[state.line[0]], state.line[3], state.line[4]) : [];
      if (from && to) this.line.value = { pane: from.pane, from, to };
      if (state.sel !== void 0 && panes[0]) this.select(panes[0], state.sel);
    });
    for (const pane of panes) this.relate(pane);
    for (const [number2, pane] of panes.entries()) {
      const { over, range, chunks } = states[number2];
      this.mapChunks(pane, chunks ?? null);
      if (over) void this.putOver(pane, over.path, over.mode, over, range);
    }
  }
  /** Colours the chunks of a pane instead of showing its picture. */
  mapChunks(pane, measure) {
    pane.chunkMap.value?.dispose();
    pane.chunkMap.value = measure ? new ChunkMap(this, pane, measure) : null;
  }
  /** Shows a second array in the picture of a pane. */
  async putOver(pane, path, mode, state = {}, range) {
    try {
      const node = await this.nodeAt(path);
      if (node.kind !== "array") throw new Error(`${path} is a group, which is not compared.`);
      pane.setOver(new Over(pane, node, mode, state));
      if (range) pane.range.value = range;
    } catch (error) {
      this.postpone(error, () => this.panes.value.includes(pane) && void this.putOver(pane, path, mode, state, range));
      this.report(error);
    }
  }
  /** Shows what a selection names: its indices, and its ranges as a region. */
  select(pane, sel) {
    const items = parseSelection(sel, pane.node.shape);
    if (!items) {
      this.failure.value = `The selection ${sel} does not fit ${pane.node.path || "this array"}.`;
      return;
    }
    const { y: y5, x: x3 } = pane.axes.value;
    const at = { ...this.at.value };
    for (const axis of pane.otherAxes) at[pane.dimension(axis)] = items[axis].begin;
    this.at.value = at;
    if (y5 !== void 0 && x3 !== void 0 && !(items[y5].whole && items[x3].whole)) {
      const box = { y0: items[y5].begin, y1: items[y5].end, x0: items[x3].begin, x1: items[x3].end };
      this.region.value = { pane, box };
    }
  }
  nodeAt(path) {
    let node = this.nodes.get(path);
    if (!node) {
      node = this.api.node(path);
      this.nodes.set(path, node);
      node.catch(() => this.nodes.delete(path));
    }
    return node;
  }
  /** Opens a node: an array in place of the active pane or beside it, a group in the side panel. */
  async open(path, beside = false) {
    try {
      const node = await this.nodeAt(path);
      this.failure.value = "";
      this.node.value = node;
      if (node.kind !== "array") return;
      const pane = new Pane(node, { path });
      r3(() => {
        const panes = this.panes.value;
        const at = this.active.value ? panes.indexOf(this.active.value) : -1;
        if (beside && panes.length < 6) this.panes.value = [...panes, pane];
        else if (at >= 0) this.panes.value = panes.with(at, pane);
        else this.panes.value = [pane];
        this.active.value = pane;
        this.forget();
        if (!beside) this.view.value = null;
      });
      this.relate(pane);
    } catch (error) {
      this.postpone(error, () => void this.open(path, beside));
      this.report(error);
    }
  }
  /** What part of its plane a pane shows: its own, or that of all panes. */
  viewOf(pane) {
    return pane.cross ? pane.ownView : this.view;
  }
  /** Shows whole planes. */
  fit() {
    r3(() => {
      this.view.value = null;
      for (const pane of this.panes.value) pane.ownView.value = null;
    });
  }
  /** The three planes through a point of an array, whose cross a click moves. */
  showPlanes(pane, z3) {
    const { y: y5, x: x3, c: c4 } = pane.axes.value;
    if (y5 === void 0 || x3 === void 0) return;
    const base = { ...pane.toState(), projection: void 0, cross: true };
    const planes = [{ y: y5, x: x3, c: c4 }, { y: y5, x: z3, c: c4 }, { y: z3, x: x3, c: c4 }];
    const at = { ...this.at.value };
    for (const axis of [y5, x3]) at[pane.dimension(axis)] ??= Math.floor(pane.node.shape[axis] / 2);
    const panes = planes.map((axes) => new Pane(pane.node, { ...base, axes }));
    linkPlanes(panes);
    r3(() => {
      this.panes.value = panes;
      this.activate(panes[0]);
      this.at.value = at;
      this.view.value = null;
      this.forget();
    });
    for (const one of panes) this.relate(one);
  }
  /** Moves the cross of three planes to an element of one of them. */
  moveCross(pane, row, column) {
    const { y: y5, x: x3 } = pane.axes.value;
    if (y5 === void 0 || x3 === void 0) return;
    this.at.value = { ...this.at.value, [pane.dimension(y5)]: row, [pane.dimension(x3)]: column };
  }
  /** One plane again. */
  showOnePlane(pane) {
    const one = new Pane(pane.node, { ...pane.toState(), cross: false, view: void 0 });
    r3(() => {
      this.panes.value = [one];
      this.activate(one);
      this.forget();
    });
    this.relate(one);
  }
  /** The elements whose series are shown, the last one that was clicked at the end. */
  get places() {
    const { value } = this.series;
    return value ? [...this.pins.value, value] : this.pins.value;
  }
  /** The series of the last click stays. */
  pin() {
    r3(() => {
      this.pins.value = this.places.slice(0, 8);
      this.series.value = null;
    });
  }
  removePlace(at) {
    if (at < this.pins.value.length) this.pins.value = this.pins.value.toSpliced(at, 1);
    else this.series.value = null;
  }
  closeSeries() {
    r3(() => {
      this.series.value = null;
      this.pins.value = [];
    });
  }
  forget() {
    this.region.value = null;
    this.line.value = null;
    this.closeSeries();
    this.cursor.value = null;
  }
  relate(pane) {
    this.api.coordinates(pane.node.path).then(({ axes }) => pane.labels.value = axes).catch((error) => {
      pane.labels.value = [];
      this.postpone(error, () => this.panes.value.includes(pane) && this.relate(pane));
      this.note(error);
    });
    this.api.related(pane.node.path).then((related) => pane.related.value = related).catch((error) => this.note(error));
  }
  close(pane) {
    r3(() => {
      const panes = this.panes.value.filter((other) => other !== pane);
      this.panes.value = panes;
      if (this.active.value === pane) this.active.value = panes[0] ?? null;
      this.forgetPlaces(pane);
    });
    this.tiles.want(pane, []);
  }
  /** What was outlined, clicked and drawn on a pane is gone. */
  forgetPlaces(pane) {
    if (this.region.value?.pane === pane) this.region.value = null;
    if (this.series.value?.pane === pane) this.series.value = null;
    if (this.line.value?.pane === pane) this.line.value = null;
    this.pins.value = this.pins.value.filter((place) => place.pane !== pane);
    if (this.cursor.value?.pane === pane) this.cursor.value = null;
  }
  /** Shows an array as another kind: places of a plane mean nothing in one of other axes. */
  setKind(pane, kind) {
    const { y: y5, x: x3 } = pane.axes.value;
    r3(() => {
      pane.setKind(kind);
      if (pane.axes.value.y !== y5 || pane.axes.value.x !== x3) this.forgetPlaces(pane);
    });
  }
  activate(pane) {
    this.active.value = pane;
    this.node.value = pane.node;
  }
  /** The index of each axis of an array. */
  indexOf(pane, at = this.at.value) {
    return pane.node.shape.map(
      (length, axis) => Math.max(0, Math.min(length - 1, at[pane.dimension(axis)] ?? 0))
    );
  }
  setIndex(dimension, index) {
    this.at.value = { ...this.at.value, [dimension]: index };
  }
  /** The dimensions that have sliders, in the order of the panes. */
  get dimensions() {
    const { value } = this.panes;
    const names = new Set(value.flatMap((pane) => pane.otherAxes.map((axis) => pane.dimension(axis))));
    const order = value[0]?.cross ? value[0].node.shape.map((_4, axis) => value[0].dimension(axis)) : [];
    return [...names].sort((one, other) => order.indexOf(one) - order.indexOf(other));
  }
  /** The length of a dimension: the shortest of those of its name, so that linked panes show one index. */
  lengthOf(dimension) {
    const lengths2 = this.panes.value.flatMap(
      (pane) => pane.otherAxes.filter((axis) => pane.dimension(axis) === dimension).map((axis) => pane.node.shape[axis])
    );
    return lengths2.length ? Math.min(...lengths2) : 0;
  }
  /** The plane that a pane shows, or a part of it, as a selection. */
  selectionOf(pane, box) {
    return selection(pane.node.shape.length, pane.axes.value, this.indexOf(pane), box, pane.projection.value?.axis);
  }
  toState() {
    const region = this.region.value;
    const names = new Set(this.panes.value.flatMap((pane) => pane.otherAxes.map((axis) => pane.dimension(axis))));
    return {
      panes: this.panes.value.map((pane) => pane.toState()),
      at: Object.fromEntries(Object.entries(this.at.value).filter(([name]) => names.has(name))),
      view: this.view.value ?? void 0,
      grid: this.showGrid.value || void 0,
      missing: this.showMissing.value ? void 0 : false,
      pins: this.pins.value.map(({ pane, row, column }) => [this.panes.value.indexOf(pane), row, column]),
      line: lineState(this.line.value, this.panes.value),
      sel: region && region.pane === this.panes.value[0] ? this.selectionOf(region.pane, region.box) : void 0
    };
  }
  /** Something that is not essential failed: only a lost server is shown. */
  note(error) {
    if (error instanceof Unreachable) this.connection.lost();
    else console.warn(error);
  }
  report(error) {
    if (error instanceof Unreachable) this.connection.lost();
    else if (error instanceof RequestError && error.status === 401) {
      this.failure.value = "The server does not accept this address. Open the address that zarrix view has printed.";
    } else this.failure.value = error instanceof Error ? error.message : String(error);
  }
  postpone(error, again) {
    if (error instanceof Unreachable) this.unanswered.push(again);
  }
  /** The server answers again: everything that failed meanwhile is asked for once more. */
  resume() {
    this.loaded.value++;
    for (const pane of this.panes.value) {
      if (pane.storedFailed) pane.storedKey = "";
      pane.chunkMap.value?.askAgain();
    }
    const { unanswered } = this;
    this.unanswered = [];
    for (const again of unanswered) again();
    this.tiles.forgetErrors();
    this.tiles.resume();
    if (!this.panes.value.length) void this.start(location.hash);
  }
  dispose() {
    this.connection.dispose();
    for (const pane of this.panes.value) this.tiles.want(pane, []);
  }
};

// src/play.ts
var AHEAD = 8;
var Player = class {
  constructor(viewer, pictures) {
    this.viewer = viewer;
    this.pictures = pictures;
  }
  viewer;
  pictures;
  fps = y3(matchMedia("(prefers-reduced-motion: reduce)").matches ? 2 : 12);
  late = y3(0);
  measured = y3(0);
  frame = 0;
  due = 0;
  times = [];
  waited = false;
  toggle(dimension) {
    if (this.viewer.playing.value === dimension) this.stop();
    else this.play(dimension);
  }
  play(dimension) {
    this.stop();
    this.viewer.playing.value = dimension;
    this.late.value = 0;
    this.measured.value = 0;
    this.times = [];
    this.waited = false;
    this.due = performance.now() + 1e3 / this.fps.value;
    this.frame = requestAnimationFrame(this.step);
  }
  stop() {
    cancelAnimationFrame(this.frame);
    this.viewer.playing.value = null;
    this.viewer.loaded.value++;
  }
  length(dimension) {
    return this.viewer.lengthOf(dimension);
  }
  step = (now) => {
    const dimension = this.viewer.playing.value;
    if (dimension === null) return;
    this.frame = requestAnimationFrame(this.step);
    const length = this.length(dimension);
    if (length < 2) return this.stop();
    const at = this.viewer.at.value;
    const current = Math.min(at[dimension] ?? 0, length - 1);
    const ahead = Array.from({ length: Math.min(AHEAD, length - 1) }, (_4, k4) => ({
      ...at,
      [dimension]: (current + 1 + k4) % length
    }));
    const pictures = this.pictures();
    for (const picture of pictures) picture.want(ahead.map((next2) => this.viewer.indexOf(picture.pane, next2)));
    if (now + 4 < this.due) return;
    const next = ahead[0];
    const ready = pictures.every((picture) => picture.has(this.viewer.indexOf(picture.pane, next)));
    const drawn2 = pictures.every((picture) => picture.shown === this.viewer.indexOf(picture.pane).join(","));
    if (!ready || !drawn2) {
      if (!this.waited) this.late.value++;
      this.waited = true;
      return;
    }
    this.viewer.at.value = next;
    this.due = this.waited ? now + 1e3 / this.fps.value : this.due + 1e3 / this.fps.value;
    this.waited = false;
    this.times.push(now);
    if (this.times.length > 50) this.times.shift();
    const elapsed = now - this.times[0];
    if (this.times.length > 4) this.measured.value = (this.times.length - 1) * 1e3 / elapsed;
  };
};

// node_modules/preact/jsx-runtime/dist/jsxRuntime.mjs
var f4 = /* @__PURE__ */ Symbol.for("pv");
var o4 = 0;
function a4(t4, e4, n3, u4, a5, i4) {
  e4 || (e4 = {});
  var c4, l4, p5 = e4;
  if ("ref" in p5 && "function" != typeof t4) for (l4 in p5 = {}, e4) "ref" == l4 ? c4 = e4[l4] : p5[l4] = e4[l4];
  var s4 = { type: t4, props: p5, key: n3, ref: c4, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: f4, __v: --o4, __i: -1, __u: 0 };
  return (a5 || i4) && (s4.__source = a5, s4.__self = i4), n.vnode && n.vnode(s4), s4;
}

// src/ui/Help.tsx
var KEYS = [
  ["arrow keys", "move the cursor of a picture; with Shift, move the picture"],
  ["+ and -", "zoom at the cursor; the wheel does the same"],
  ["0 and 1", "show the whole plane; one element for each pixel of the screen"],
  ["[ and ]", "the frame before and after"],
  ["p", "play, and stop"],
  ["Enter", "the series through the cursor; a click does the same"],
  ["r", "begin a region at the cursor, and end it; a drag does the same"],
  ["s", "pin the series, so that the next click adds another one"],
  ["l", "begin a line at the cursor, and end it: its values are shown"],
  ["Escape", "remove the region and the line"],
  ["g, m", "the chunk grid; hatching of missing chunks"],
  ["/", "filter the tree"],
  ["Shift and drag", "move the picture"]
];
function Help({ onClose }) {
  const close = T2(null);
  A2(() => {
    const before = document.activeElement;
    close.current?.focus();
    return () => before?.focus();
  }, []);
  return /* @__PURE__ */ a4("div", { class: "help", role: "dialog", "aria-modal": "true", "aria-labelledby": "help-title", children: [
    /* @__PURE__ */ a4("h2", { id: "help-title", children: "Keys" }),
    /* @__PURE__ */ a4("dl", { children: KEYS.map(([key, what]) => /* @__PURE__ */ a4("div", { children: [
      /* @__PURE__ */ a4("dt", { children: /* @__PURE__ */ a4("kbd", { children: key }) }),
      /* @__PURE__ */ a4("dd", { children: what })
    ] }, key)) }),
    /* @__PURE__ */ a4("button", { type: "button", ref: close, onClick: onClose, children: "Close" })
  ] });
}

// src/ui/Health.tsx
function Health({ viewer, node }) {
  const state = useSignal("idle");
  const done = useSignal(0);
  const total = useSignal(0);
  const stop = T2(null);
  A2(() => () => stop.current?.(), []);
  const mine = viewer.broken.value.filter(({ path }) => path === node.path || node.path === "" || path.startsWith(`${node.path}/`));
  const start = () => {
    viewer.broken.value = viewer.broken.value.filter((broken) => !mine.includes(broken));
    state.value = "running";
    done.value = 0;
    stop.current = viewer.api.transport.listen("verify", { path: node.path }, (event, data) => {
      const facts = data;
      if (event === "progress") {
        done.value = facts.done;
        total.value = facts.total;
      } else if (event === "broken") viewer.broken.value = [...viewer.broken.value, facts].slice(-1e4);
      else if (event === "end") {
        state.value = "ended";
        viewer.spoken.value = `Verification ended: ${viewer.broken.value.length} broken.`;
      } else if (event === "closed" && state.value === "running") state.value = "lost";
    });
  };
  return /* @__PURE__ */ a4("section", { "aria-label": "Verification", class: "health", children: [
    /* @__PURE__ */ a4("h3", { children: "Verification" }),
    state.value === "running" ? /* @__PURE__ */ a4("p", { children: [
      /* @__PURE__ */ a4("progress", { max: total.value || 1, value: done.value, "aria-label": "Verified chunks" }),
      " ",
      done.value,
      " of ",
      total.value,
      " ",
      /* @__PURE__ */ a4("button", { type: "button", onClick: () => {
        stop.current?.();
        state.value = "idle";
      }, children: "Stop" })
    ] }) : /* @__PURE__ */ a4("p", { children: [
      /* @__PURE__ */ a4("button", { type: "button", onClick: start, children: "Verify every chunk" }),
      " ",
      state.value === "ended" && (mine.length ? `${mine.length} broken` : "ok: every stored chunk decodes"),
      state.value === "lost" && "The server ended before all was verified."
    ] }),
    mine.length > 0 && /* @__PURE__ */ a4("ul", { class: "broken", children: [
      mine.slice(0, 50).map(({ key, reason }) => /* @__PURE__ */ a4("li", { children: [
        /* @__PURE__ */ a4("code", { children: /* @__PURE__ */ a4("bdi", { children: key }) }),
        " ",
        /* @__PURE__ */ a4("bdi", { children: reason })
      ] }, key)),
      mine.length > 50 && /* @__PURE__ */ a4("li", { children: [
        "and ",
        mine.length - 50,
        " more"
      ] })
    ] })
  ] });
}

// src/ui/Histogram.tsx
var HEIGHT = 72;
function Histogram({ viewer, pane }) {
  const stats = useSignal(null);
  const failure = useSignal("");
  const canvas = T2(null);
  const dragged = T2(null);
  const ofChannels = pane.kind.value === "channels";
  const chosen = useSignal(0);
  const channel = Math.min(chosen.value, pane.channels.value.length - 1);
  const plane = viewer.selectionOf(pane, null);
  const sel = ofChannels ? plane.split(",").map((item, axis) => axis === pane.axes.value.c ? String(channel) : item).join(",") : plane;
  const playing = viewer.playing.value !== null;
  const field = pane.field.value;
  const { form } = pane;
  A2(() => {
    if (playing || pane.kind.value === "labels") return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      viewer.api.stats(pane.node.path, sel, { bins: 256, field, as: form }, abort.signal).then((found2) => {
        stats.value = found2;
        failure.value = "";
      }).catch((error) => {
        if (abort.signal.aborted) return;
        failure.value = error instanceof Error ? error.message : String(error);
        viewer.note(error);
      });
    }, 200);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [pane, sel, field, form, playing, viewer.connection.offline.value]);
  const range = ofChannels ? pane.look.value.channels[channel].range : pane.look.value.range;
  const ranged = pane.kind.value !== "mask";
  const edges = stats.value?.edges ?? [0, 1];
  const low = edges[0];
  const high = edges[edges.length - 1];
  A2(() => {
    const element = canvas.current;
    if (element && stats.value) drawBars(element, stats.value, ranged ? range : null);
  }, [stats.value, range[0], range[1], ranged]);
  const valueAt = (event) => {
    const rect2 = event.currentTarget.getBoundingClientRect();
    return low + Math.max(0, Math.min(1, (event.clientX - rect2.left) / rect2.width)) * (high - low);
  };
  const set = (end, value) => {
    const next = [...range];
    next[end] = Number(value.toPrecision(6));
    if (next[0] > next[1]) next[1 - end] = next[end];
    if (ofChannels) pane.channels.value = pane.channels.value.with(channel, { ...pane.channels.value[channel], range: next });
    else pane.range.value = next;
  };
  if (!stats.value && !failure.value) return /* @__PURE__ */ a4("section", { "aria-label": "Histogram", children: [
    /* @__PURE__ */ a4("h3", { children: "Histogram" }),
    /* @__PURE__ */ a4("p", { class: "quiet", children: "being counted…" })
  ] });
  const found = stats.value;
  return /* @__PURE__ */ a4("section", { "aria-label": "Histogram", children: [
    /* @__PURE__ */ a4("h3", { children: [
      "Histogram of the ",
      ofChannels ? "channel" : "plane"
    ] }),
    ofChannels && /* @__PURE__ */ a4("select", { "aria-label": "Channel of the histogram", value: channel, onChange: (event) => chosen.value = Number(event.currentTarget.value), children: pane.channels.value.map((_4, at) => /* @__PURE__ */ a4("option", { value: at, children: pane.node.guess.channels?.[at]?.name || `channel ${at}` }, at)) }),
    failure.value && /* @__PURE__ */ a4("p", { class: "notice", children: /* @__PURE__ */ a4("bdi", { children: failure.value }) }),
    found && found.histogram.length > 0 && /* @__PURE__ */ a4($, { children: [
      /* @__PURE__ */ a4(
        "canvas",
        {
          ref: canvas,
          width: 300,
          height: HEIGHT,
          class: "histogram",
          "aria-hidden": "true",
          onPointerDown: (event) => {
            if (!ranged) return;
            const value = valueAt(event);
            dragged.current = Math.abs(value - range[0]) < Math.abs(value - range[1]) ? 0 : 1;
            event.currentTarget.setPointerCapture(event.pointerId);
            set(dragged.current, value);
          },
          onPointerMove: (event) => dragged.current !== null && set(dragged.current, valueAt(event)),
          onPointerUp: () => dragged.current = null
        }
      ),
      ranged && /* @__PURE__ */ a4("div", { class: "range-sliders", children: [0, 1].map((end) => /* @__PURE__ */ a4(
        "input",
        {
          type: "range",
          min: low,
          max: high,
          step: "any",
          value: range[end],
          "aria-label": `${end ? "Highest" : "Lowest"} value that is drawn`,
          onInput: (event) => set(end, Number(event.currentTarget.value))
        },
        end
      )) })
    ] }),
    found && /* @__PURE__ */ a4("p", { class: "quiet", children: [
      number(found.min),
      " to ",
      number(found.max),
      ", mean ",
      number(found.mean),
      ", deviation ",
      number(found.std),
      found.nan ? `, ${number(found.nan)} NaN` : "",
      found.inf ? `, ${number(found.inf)} infinite` : "",
      found.damaged ? `, ${number(found.damaged)} in damaged chunks` : "",
      found.exact ? "" : `, of a sample of ${number(found.sampled)}`
    ] })
  ] });
}
function drawBars(canvas, { histogram, edges }, range) {
  const context = canvas.getContext("2d");
  if (!context) return;
  const style = getComputedStyle(canvas);
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  const largest = Math.sqrt(Math.max(1, ...histogram));
  context.fillStyle = style.getPropertyValue("--accent").trim();
  const bar = width / histogram.length;
  histogram.forEach((count, at2) => {
    const tall = Math.sqrt(count) / largest * (height - 2);
    context.fillRect(at2 * bar, height - tall, Math.max(1, bar), tall);
  });
  if (!range) return;
  const extent = edges[edges.length - 1] - edges[0] || 1;
  const at = (value) => Math.max(0, Math.min(width, (value - edges[0]) / extent * width));
  context.fillStyle = style.getPropertyValue("--veil").trim();
  context.fillRect(0, 0, at(range[0]), height);
  context.fillRect(at(range[1]), 0, width - at(range[1]), height);
  context.fillStyle = style.getPropertyValue("--text").trim();
  for (const value of range) context.fillRect(Math.max(0, Math.min(width - 2, at(value) - 1)), 0, 2, height);
}

// src/axes.ts
var MARGIN = { left: 62, right: 74, top: 6, bottom: 36 };
function hasColourBar(pane) {
  if (pane.chunkMap.value) return pane.chunkMap.value.measure !== "age";
  return pane.kind.value === "gray" || pane.kind.value === "depth";
}
function drawAxes(around) {
  const { context, view, pane, ratio, text } = around;
  const { y: y5, x: x3 } = pane.axes.value;
  if (y5 === void 0 || x3 === void 0 || pane.isEmpty) return;
  const [left, top] = [MARGIN.left * ratio, MARGIN.top * ratio];
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  context.fillStyle = text;
  context.strokeStyle = around.line;
  context.lineWidth = ratio;
  const { height, width } = pane.extent;
  const bottom = top + Math.min(view.height, Math.max(view.top, 0) + height * view.scaleY, view.top + height * view.scaleY);
  const x0 = Math.max(0, -view.left / view.scale);
  const x1 = Math.min(width, (view.width - view.left) / view.scale);
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of spaced(ticksOf(pane.labels.value?.[x3], x0, x1, 74 * ratio / view.scale), context, view.scale)) {
    const at = left + view.left + tick.at * view.scale;
    stroke(context, at, bottom, at, bottom + 4 * ratio);
    context.fillText(tick.text, at, bottom + 6 * ratio);
  }
  const middle = left + view.left + (x0 + x1) / 2 * view.scale;
  context.fillText(titled(pane, x3), middle, bottom + 20 * ratio, view.width);
  const y0 = Math.max(0, view.flip ? view.flip - (view.height - view.top) / view.scaleY : -view.top / view.scaleY);
  const y1 = Math.min(height, view.flip ? view.flip + view.top / view.scaleY : (view.height - view.top) / view.scaleY);
  const edge = left + Math.max(0, view.left);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of ticksOf(pane.labels.value?.[y5], y0, y1, 36 * ratio / view.scaleY)) {
    const at = top + view.top + screenRow(view, tick.at) * view.scaleY;
    stroke(context, edge - 3 * ratio, at, edge, at);
    context.fillText(tick.text, edge - 6 * ratio, at, edge - 6 * ratio - 14 * ratio);
  }
  context.save();
  context.translate(Math.max(8 * ratio, edge - 54 * ratio), top + view.top + screenRow(view, (y0 + y1) / 2) * view.scaleY);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(titled(pane, y5), 0, 0, view.height);
  context.restore();
  if (around.hasBar) drawBar(around);
}
function stroke(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
  context.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  context.stroke();
}
function spaced(ticks2, context, scale) {
  const widest = Math.max(0, ...ticks2.map(({ text }) => context.measureText(text).width));
  const apart2 = ticks2.length > 1 ? Math.abs(ticks2[1].at - ticks2[0].at) * scale : widest * 2;
  const every = Math.max(1, Math.ceil(widest * 1.15 / apart2));
  return ticks2.filter((_4, at) => at % every === 0);
}
function titled(pane, axis) {
  const labels = pane.labels.value?.[axis];
  const unit = labels?.unit;
  return `${pane.dimension(axis)}${unit && !/^degrees?_/i.test(unit) ? ` (${symbol(unit)})` : ""}`;
}
var BAR_WIDTH = 14;
function drawBar({ context, view, pane, ratio, text, line }) {
  const chunks = pane.chunkMap.value;
  const { range, map, transform } = chunks ? { range: chunks.range ?? [0, 1], map: MAP, transform: "linear" } : pane.look.value;
  const left = MARGIN.left * ratio + view.width + 10 * ratio;
  const top = (MARGIN.top + 20) * ratio;
  const height = Math.round(Math.max(20 * ratio, view.height - 26 * ratio));
  const colours2 = colourMap(map);
  const width = BAR_WIDTH * ratio;
  for (let row = 0; row < height; row++) {
    const colour = colours2[Math.min(255, Math.floor((1 - (row + 0.5) / height) * 256))];
    context.fillStyle = `rgb(${colour & 255}, ${colour >> 8 & 255}, ${colour >> 16 & 255})`;
    context.fillRect(left, top + row, width, 1);
  }
  context.strokeStyle = line;
  context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
  context.fillStyle = text;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const unit = chunks ? chunks.measure === "bytes" ? "bytes" : "ratio" : pane.node.unit;
  if (unit) context.fillText(symbol(unit), left, top - 11 * ratio, MARGIN.right * ratio - 10 * ratio);
  const low = transform === "linear" ? range[0] : Math.max(range[0], 2 ** -24);
  const high = Math.max(range[1], low);
  const [begin, end] = [transformed(low, transform), transformed(high, transform)];
  const ticks2 = barTicks(low, high, transform === "linear" ? height / (40 * ratio) : 0);
  for (const value of ticks2) {
    const part = end === begin ? 0 : (transformed(value, transform) - begin) / (end - begin);
    const at = top + (1 - part) * (height - 1);
    stroke(context, left + width, at, left + width + 3 * ratio, at);
    context.fillText(shortText(value, ticks2), left + width + 7 * ratio, at, (MARGIN.right - BAR_WIDTH - 18) * ratio);
  }
}
function barTicks(low, high, count) {
  if (!(high > low)) return [low];
  if (!count) return [low, Math.sqrt(low * high), high];
  const step = niceStep((high - low) / Math.max(2, count));
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9 && found.length < 50; at++) found.push(at * step);
  return found;
}
function shortText(value, ticks2) {
  const apart2 = ticks2.length > 1 ? Math.abs(ticks2[1] - ticks2[0]) : Number.POSITIVE_INFINITY;
  const largest = Math.max(...ticks2.map(Math.abs));
  const needed = apart2 > 0 && largest > 0 ? Math.floor(Math.log10(largest)) - Math.floor(Math.log10(apart2)) + 1 : 4;
  const digits = Math.max(4, Math.min(15, needed));
  const text = String(Number(value.toPrecision(digits)));
  return text.length > Math.max(7, digits + 2) ? value.toExponential(Math.max(1, needed - 1)) : text;
}
function drawScaleBar(context, view, pane, ratio) {
  const { x: x3 } = pane.axes.value;
  const labels = x3 === void 0 ? null : pane.labels.value?.[x3];
  if (!labels?.unit || labels.step === void 0 || unitOf(labels.unit).of !== "length" || numberAt(labels, 0) === null) return;
  const perPixel = Math.abs(labels.step) / view.scale;
  const length = niceStep(perPixel * 60 * ratio);
  const width = length / perPixel;
  const extent = pane.extent;
  const begin = Math.max(0, view.left);
  const end = Math.min(view.width, view.left + extent.width * view.scale);
  if (!(width > 0) || width > (end - begin) * 0.8 - 12 * ratio) return;
  const left = begin + 12 * ratio;
  const bottom = Math.min(view.height, view.top + extent.height * view.scaleY) - 12 * ratio;
  if (bottom - Math.max(0, view.top) < 66 * ratio) return;
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  const label2 = withUnit(length, labels.unit);
  context.fillStyle = "rgba(0, 0, 0, 0.6)";
  context.fillRect(left - 6 * ratio, bottom - 20 * ratio, Math.max(width, context.measureText(label2).width) + 12 * ratio, 26 * ratio);
  context.fillStyle = "#ffffff";
  context.fillRect(left, bottom - 3 * ratio, Math.round(width), 3 * ratio);
  context.textAlign = "left";
  context.textBaseline = "bottom";
  context.fillText(label2, left, bottom - 5 * ratio);
}

// src/coast-lines.ts
var PER_DEGREE = 20;
var LINES = [
  "-1191 -1601 -6 -10 -6 -9 -42 3 -45 -1 -25 6 0 1 -11 6 45 -1 43 -2 15 8 11 7 21 -8",
  "-3184 -1590 -39 -3 -26 7 -12 7 0 2 -13 5 12 8 37 -4 20 -6 15 -7 6 -9",
  "-903 -1561 25 -9 8 -12 3 -8 0 -11 -31 -6 -32 -5 -38 -5 -42 -4 -47 2 -26 6 3 9 43 5 17 7 13 8 9 8 12 7 13 8 10 0 30 4 30 -4",
  "-2424 -1470 26 -3 24 3 -12 -7 -19 -5 -27 2 -20 7 4 7 24 -4",
  "-2511 -1470 30 -7 -11 0 -26 2 -28 6 15 4 20 -5",
  "-1980 -1439 22 -2 22 2 12 -11 -16 1 -24 -1 -25 1 -27 -1 -20 4 -11 8 13 4 25 -3 29 -2",
  "-1369 -1419 2 -9 -3 -8 -6 -7 -23 -3 -23 -4 -26 0 10 8 -24 -3 -22 -2 -15 6 -1 8 22 8 13 2 24 -1 5 10 2 8 -1 16 12 9 18 3 11 -7 4 -7 9 -9 6 -9 6 -9",
  "-3599 -1694 18 11 36 -6 2 1 6 1 7 2 5 2 3 1 3 0 2 0 29 -9 26 9 4 1 59 3 19 -4 9 -3 31 -6 56 -6 45 -6 78 -4 57 5 85 -4 48 -6 53 6 56 5 4 10 -79 0 -64 5 -17 8 -54 4 4 9 7 8 8 8 -4 8 -34 6 -15 7 -31 6 49 -1 46 3 29 -7 36 6 33 8 16 6 -7 8 -26 6 -30 6 -41 1 -36 3 -39 2 -13 7 -25 6 -16 7 -6 23 10 -2 18 -6 32 2 32 3 17 -9 31 2 27 4 25 6 23 6 30 2 -1 8 -7 7 6 7 26 4 12 -7 30 4 23 5 29 1 27 2 27 4 21 5 25 4 15 -1 14 -2 30 3 27 -4 27 1 26 3 27 -2 30 -2 28 0 29 0 30 0 27 0 20 6 25 3 25 -4 24 4 21 7 13 -7 7 -7 13 -6 21 6 24 -8 27 -2 23 -6 28 1 26 4 30 -1 27 -3 27 -3 11 9 -13 6 -10 7 -26 2 -11 7 -5 8 -7 15 16 -3 26 -1 26 1 23 -3 21 -6 8 -7 27 -1 26 2 28 4 24 3 21 -5 26 2 17 15 17 -9 23 -4 25 2 16 -8 26 0 25 -3 24 -4 15 7 8 7 20 -7 28 2 20 -5 14 -6 26 2 21 4 20 5 25 3 28 2 25 3 20 4 12 6 4 9 -2 8 -6 8 -7 8 -7 8 -5 7 -1 8 2 8 9 7 8 8 3 8 -3 9 -3 7 10 9 11 6 13 8 14 6 16 6 7 9 11 5 13 5 19 1 13 7 14 4 16 2 15 5 11 6 16 3 12 -6 -8 -6 -20 -6 -9 -4 -15 3 -16 -2 -14 -5 -14 -5 -10 -6 -3 -8 1 -7 10 -7 -14 -5 -19 -1 -11 -7 -12 -6 -12 -9 -3 -7 7 -8 10 -7 17 -4 15 -7 8 -7 5 -8 5 -8 10 -6 6 -8 2 -18 6 -8 2 -7 6 -8 -3 -11 -11 -8 -11 -7 -27 -3 -9 -7 -12 -6 -30 -8 -27 -3 -25 -4 -27 -4 -16 -9 -32 0 -35 0 -32 -1 -34 0 6 -8 31 -4 22 -5 13 -7 -22 -6 -35 2 -28 -6 -2 -8 -1 -8 24 -6 4 -8 26 -7 42 -3 36 -6 29 -6 36 -6 50 -3 49 -6 34 -6 37 -7 20 -9 10 -7 24 7 33 6 35 6 41 5 36 5 50 1 48 -3 41 -5 13 9 28 6 50 0 40 5 37 4 42 3 44 3 31 5 -14 7 -9 7 0 8 -38 -1 -42 -3 -39 0 -5 7 2 15 9 5 29 4 34 5 24 6 24 6 18 8 28 3 27 3 13 1 31 1 30 3 25 4 24 5 22 4 28 6 17 7 19 6 6 8 -21 5 7 8 13 6 21 4 22 5 20 6 16 8 10 9 14 6 24 -1 10 -7 24 -1 0 8 11 7 21 -2 5 -7 24 -1 26 3 25 3 23 -2 8 -8 22 7 21 3 22 3 23 3 20 5 22 3 18 4 12 7 15 -5 20 3 15 -10 11 -7 23 4 9 8 20 6 27 -2 8 -7 16 7 22 3 23 0 21 0 22 -2 22 -1 9 -7 13 -6 22 4 24 0 23 0 22 1 20 2 21 3 18 5 18 4 21 2 15 5 11 11 11 7 21 -3 8 -7 17 -5 21 2 14 -7 15 -6 20 5 7 9 18 3 21 7 20 3 23 4 16 4 16 5 16 4 19 -2 18 7 13 5 19 0 16 4 4 8 17 5 16 4 20 3 19 2 17 -2 19 -2 16 -5 2 -9 18 -6 12 -6 24 -2 13 -6 17 -5 19 -1 16 4 17 8 19 -4 19 -3 19 -2 20 -2 20 0 16 -20 -1 -6 -2 -9 -19 -5 -16 -7 3 -8 22 0 -2 -7 -11 -8 -9 -8 15 -6 23 -2 23 3 11 8 7 8 11 6 13 6 5 7 10 9 13 2 23 1 19 3 21 3 10 8 6 7 13 7 20 6 17 3 11 7 11 4 15 3 19 -2 18 2 20 2 22 -1 15 5 10 14 7 -6 10 -9 16 -4 20 -2 19 3 20 -2 19 0 13 2 16 -1 16 -5 18 3 21 0 19 3 20 -3 14 7 10 6 14 6 25 15 13 -3 15 -6 13 -7 26 -12 19 0 19 0 21 2 22 3 16 5 14 6 22 1 15 4 16 -3 10 -7 14 -6 22 1 14 -5 24 -5 25 -2 20 1 16 6 13 7 18 1 18 -2 21 -2 19 3 18 0 18 -2 18 -2 18 3 22 3 20 1 23 0 18 2 18 2 6 10 0 8 13 -6 3 -9 7 -8 8 -7 17 -3 23 1 26 0 18 2 26 0 19 0 26 -1 23 -1 14 -7 -4 -7 13 -6 21 -5 23 -5 26 -3 27 -3 20 -3 23 -1 13 7 17 -6 16 -6 17 -5 25 -2 23 -2 9 -8 23 -5 15 -7 23 -3 23 1 21 -2 24 1 24 -2 23 -2 20 -5 21 -4 14 -6 -2 -8 -11 -7 -9 -9 -7 -7 -9 -8 -26 -3 -12 -7 -26 -5 -9 -7 -14 -8 -14 -6 -9 -8 -5 -8 -2 -9 1 -7 11 -8 5 -8 9 -7 37 -2 8 -9 -36 -3 -31 -4 -38 -1 -17 -12 -3 -9 -9 -7 -10 -8 26 -7 11 -8 17 -7 24 -7 28 -6 30 -6 46 -7 10 -10 58 -4 4 -1 14 -6 56 5 46 -6 34 -5",
  "-3634 -1689 34 -5",
  "-1355 -1077 26 -12 28 -5 -9 -10 -19 -1 -10 7 -7 -8 -17 -6 -22 2 -14 6 -21 3 -25 11 -21 11 -27 22 16 -4 28 -13 27 -7 10 9 7 13 18 9 14 -3 8 -9 10 -15",
  "-1171 -1022 16 -9 -6 -7 -27 -6 -9 7 -17 -9 -10 9 24 12 17 -5 12 8",
  "1406 -994 -31 -1 -1 10 3 8 2 5 13 -7 19 -2 0 -4 -5 -9",
  "2908 -816 19 -7 11 3 16 4 12 -1 1 -24 -7 -7 -2 -16 -7 5 -14 -14 -4 1 -12 1 -12 17 -3 13 -12 18 1 9 13 -2",
  "3460 -818 5 -9 14 8 6 -8 0 -8 -7 -10 -14 -14 -10 -8 8 -10 -16 0 -17 -8 -5 -13 -12 -20 -15 -9 -10 -6 -19 1 -13 6 -21 2 -4 7 11 15 25 20 13 3 14 8 17 10 13 11 8 15 8 5 3 11 14 9 4 -8",
  "3492 -723 15 -21 0 13 9 -5 3 -15 16 -7 14 -1 11 7 10 -2 -4 -18 -7 -11 -15 0 -5 -6 2 -9 -3 -3 -8 -11 -10 -14 -15 -8 -4 5 -8 3 12 17 -7 11 -22 8 1 7 14 7 4 15 -1 13 -8 14 0 3 -9 9 -16 17 -8 14 7 2 11 -11 16 -5 5 -18",
  "3342 -443 -7 -5 -11 5 -15 9 -12 11 -14 14 -2 7 8 0 11 -7 9 -7 7 -6 16 -12 10 -9",
  "3567 -347 7 -6 -3 -10 -12 -3 -11 3 -2 9 7 6 9 -2 5 3",
  "-3600 -331 -13 -5",
  "3600 -331 -13 -5 -12 -4 -3 7 10 4 6 1 12 7",
  "-3612 -328 12 7",
  "-3600 -321 4 1 -2 -10",
  "3357 -329 -7 -3 -6 9 0 5 13 -11",
  "3342 -299 3 -16 -5 3 -4 -1 -3 5 0 15 9 -6",
  "1001 -271 3 -24 6 -10 -2 -9 -4 -6 -7 12 -4 -6 4 -15 -1 -8 -6 -5 -1 -17 -8 -23 -10 -28 -12 -38 -8 -28 -9 -23 -16 -5 -18 -8 -11 5 -16 7 -6 11 -1 18 -7 15 -2 15 4 14 9 4 0 6 10 16 1 12 -4 10 -4 12 -2 19 7 11 3 13 10 0 11 5 7 3 9 0 12 12 16 12 6 10 -3 9 9 -3 11 14 0 12 7 9 7 -8 5 -9 5 -13",
  "2871 -275 7 -16 13 8 7 -9 9 -8 -2 -9 5 -17 3 -10 5 -2 5 -17 -2 -11 7 -13 21 -11 15 -9 13 -9 -3 -5 12 -12 8 -22 8 5 8 -9 5 3 3 -21 14 -13 9 -7 16 -16 6 -16 0 -12 -1 -12 9 -17 -1 -18 -3 -9 -6 -18 1 -11 -4 -15 -9 -18 -15 -10 -7 -15 -7 -10 -6 -17 -7 -10 -5 -15 -3 -14 1 -7 -12 -6 -22 -1 -18 -8 -10 -8 -12 -9 -16 9 -12 4 3 10 -11 -4 -18 -14 -17 5 -11 3 -12 2 -19 6 -13 12 -4 15 -4 10 -10 8 -20 3 7 9 -5 15 -10 -14 -17 -3 10 11 3 11 8 10 -2 15 -16 -17 -13 -7 -7 -16 -16 8 1 11 -13 15 -10 7 3 5 -25 12 -14 0 -19 10 -36 -2 -26 -7 -23 -7 -19 2 -21 -11 -18 -4 -3 -11 -8 -8 -17 0 -12 -2 -18 4 -14 -3 -14 -1 -12 -10 -6 1 -10 -6 -9 -6 -15 0 -14 0 -21 13 -10 4 0 12 10 2 3 5 0 7 2 14 -2 12 -11 20 -3 11 1 12 -8 13 -1 6 -9 8 -2 15 -11 16 -3 9 9 -9 -7 19 10 -6 6 -8 -1 10 -10 16 -1 6 -5 6 2 12 4 5 3 10 -2 12 8 14 1 -15 9 13 16 7 10 9 15 7 9 2 6 -3 16 8 12 2 3 4 5 2 11 -1 21 6 11 9 5 11 12 10 1 8 0 11 14 17 9 -17 8 4 -7 9 6 10 9 -5 3 16 11 9 4 8 10 4 1 5 9 -2 0 5 9 3 9 3 15 -10 11 -11 13 -1 12 -1 -4 11 10 16 9 5 -3 5 8 11 12 7 11 -2 17 4 -1 10 -15 7 11 2 13 -5 11 -8 17 -5 6 2 12 -6 12 6 7 -2 5 4 9 -10 -5 -11 -8 -8 -7 0 3 -8 -6 -10 -7 -10 1 -6 16 -11 15 -6 11 -7 14 -12 6 0 10 -5 3 -6 19 -7 13 7 4 10 4 9 3 11 6 16 -3 10 2 6 -3 11 3 15 4 4 -3 7 5 10 3 11 1 6 7 8 6 -10 1 -13 5 -2 1 -9 7 -10 2 -11 -1 -7",
  "3242 -210 6 -7 -14 1 -8 12 12 -5 4 -1",
  "2414 -205 -8 0 -27 14 19 4 11 -6 7 -6 -2 -6",
  "3217 -197 -8 -1 -12 2 -4 3 1 8 13 -3 7 -4 3 -5",
  "3234 -192 -3 -4 -15 18 -4 12 6 0 8 -16 8 -10",
  "2489 -203 -17 -4 -3 2 2 7 9 12 19 8 3 5 17 4 14 1 6 3 8 -3 -8 -5 -20 -9 -17 -6 -13 -15",
  "2358 -162 7 -5 13 1 5 -8 -24 -4 -13 -3 -11 0 7 12 11 0 5 7",
  "2458 -162 -3 -11 -30 -6 -27 3 0 7 16 4 13 -6 13 2 18 7",
  "3198 -167 0 -4 -15 9 -11 7 -8 7 3 2 9 -5 17 -9 5 -7",
  "3151 -147 -4 -1 -9 4 -8 9 1 3 12 -8 8 -7",
  "2172 -136 39 -2 4 9 37 -10 8 -13 30 -4 24 -11 -23 -8 -22 8 -18 -1 -21 2 -18 4 -23 7 -15 2 -8 -2 -37 8 -3 8 -19 2 14 19 24 -1 16 -8 9 -1 2 -8",
  "2695 -124 -11 -14 -2 15 4 7 4 7 5 -6 0 -9",
  "3118 -136 -6 -2 -9 7 -8 13 -5 15 3 2 2 -6 6 -4 10 -13 9 -7 -2 -5",
  "3040 -110 -11 -1 -3 -6 -11 -5 -10 -4 -11 0 -16 5 -12 6 2 6 18 -3 11 2 3 9 3 1 2 -11 11 2 6 7 11 7 -2 12 12 0 4 -3 -1 -11 -6 -13",
  "2545 -69 -8 -7 -13 4 -4 8 20 1 5 -6",
  "2609 -62 8 -15 -17 8 -17 2 -11 -2 -14 1 5 11 24 1 22 -6",
  "3063 -90 -6 -5 -4 11 -5 8 -9 7 -11 8 -15 6 6 5 11 -6 6 -4 9 -5 8 -8 7 -7 3 -10",
  "2683 -23 5 -32 21 -12 17 21 23 12 18 0 17 -7 15 -7 21 -4 35 -14 37 -11 13 -10 12 -11 3 -11 33 -13 5 -10 -19 -2 5 -14 18 -13 13 -21 11 1 -1 -9 16 -4 -6 -3 21 -9 -2 -6 -13 -1 -5 5 -18 2 -20 3 -15 13 -12 11 -10 18 -26 8 -17 -5 -12 -7 2 -15 -15 -7 -12 4 -20 1 -18 16 -20 4 -5 -6 -26 0 9 16 12 6 -5 21 -9 17 -39 17 -17 2 -30 18 -6 -9 -7 -2 -5 7 0 9 -15 10 21 7 15 -1 -2 6 -29 0 -8 12 -18 3 -9 10 27 5 11 7 32 -9 3 -7",
  "2505 28 -16 -19 -15 -4 -20 4 -33 -1 -17 -3 -3 -15 18 -18 10 9 38 7 -2 -10 -9 3 -8 -11 -18 -8 19 -26 -4 -7 18 -23 0 -13 -10 -6 -8 7 9 17 -19 -8 -5 6 2 7 -14 12 1 19 -13 -6 2 -23 1 -29 -13 -2 -9 5 6 19 -3 19 -8 0 -7 14 9 13 2 16 11 30 4 8 17 15 15 -6 26 -2 23 0 19 15 4 -5",
  "2574 23 -1 -18 -11 2 -3 -12 9 -11 -6 -2 -8 13 -6 25 4 16 7 7 1 -10 12 -2 2 -8",
  "2116 -117 -22 0 -17 16 -25 17 -9 12 -15 16 -10 15 -15 28 -18 17 -6 17 -7 15 -18 13 -10 17 -15 11 -21 22 -2 11 13 -1 31 -4 17 -20 16 -13 11 -9 19 -21 20 0 17 -14 12 -17 15 -9 -8 -16 11 -7 7 -1 4 -14 7 -11 14 -2 10 -12 -5 -25 -1 -31",
  "2357 37 23 -19 -24 -2 -6 -14 0 -18 -19 -14 0 -20 -8 -30 -3 7 -23 -9 -8 12 -14 1 -10 7 -24 -8 -7 10 -13 -1 -17 2 -3 27 -10 6 -9 17 -3 17 2 19 12 13 15 -7 15 4 4 17 9 4 24 4 14 16 10 13 8 7 17 11 15 14 11 15 8 1 10 -11 1 -8 13 -6 17 -6 -2 -8 -13 -1 3 -9 -14 -7 -12 -18 15 -19 -4 -9",
  "2528 168 2 -13 1 -11 -7 -19 -7 21 -10 -10 7 -15 -6 -9 -24 11 -5 15 6 9 -13 10 -6 -9 -10 1 -14 -11 -4 6 8 17 13 5 11 8 7 -9 15 5 3 9 14 1 -1 15 16 -9 2 -10 2 -8",
  "1624 124 -17 -5 -10 16 -3 29 9 32 14 -11 9 -14 10 -21 -3 -20 -9 -6",
  "-1219 202 -16 -2 -4 2 6 5 -1 8 12 3 4 -1 -1 -15",
  "2480 206 -8 -7 -6 -13 -6 -6 -12 14 4 6 5 5 2 13 11 1 -3 -14 15 20 -2 -19",
  "2370 186 -26 -19 9 14 15 13 12 14 10 19 4 -16 -13 -11 -11 -14",
  "2438 238 12 -6 12 0 0 -9 -9 -8 -13 -6 -1 9 2 10 -3 10",
  "2510 243 6 -22 -16 5 1 -6 5 -13 -10 -4 -1 14 -6 1 -3 12 12 -2 0 8 -13 15 20 0 5 -8",
  "2431 261 -6 -17 -8 10 -11 15 18 0 7 -8",
  "2426 370 13 -6 6 6 2 -6 -4 -8 7 -14 -5 -17 -12 -6 -3 -16 5 -16 10 -3 9 3 25 -11 -2 -11 7 -5 -2 -9 -16 10 -7 10 -6 -7 -12 12 -18 -3 -10 4 1 8 6 6 -6 4 -3 -7 -10 11 -3 9 0 19 8 -6 2 31 6 18 12 0",
  "-1312 365 -5 -5 -15 0 -12 -1 -1 8 3 3 16 0 11 -1 3 -4",
  "-1538 357 -6 -3 -11 3 -12 8 3 4 8 1 5 0 13 -2 11 -5 3 -5 -14 -1",
  "-1452 397 18 -3 2 4 16 0 12 -6 5 1 4 -7 11 0 -1 -6 9 0 10 -8 -8 -8 -9 4 -9 0 -7 1 -4 -4 -7 -1 -3 5 -7 -3 -8 -14 -5 3 -1 6 -13 3 -10 -1 -12 1 -9 -3 -11 6 2 6 18 -2 15 -2 7 4 -9 9 0 8 -12 3 4 5 12 -1",
  "2207 374 -17 -10 -17 6 0 17 9 9 22 6 12 0 4 -8 -9 -9 -4 -11",
  "-3111 382 -3 -4 -5 3 1 6 -3 7 1 2 3 4 -1 3 1 2 1 0 8 -3 4 -2 3 -3 5 -7 -1 -1 -7 -4 -7 -3",
  "-3122 413 -6 -2 -4 5 -2 1 0 2 2 1 7 -2 5 -3 -2 -2",
  "-3135 424 -1 -3 -11 1 2 2 10 0",
  "-3153 426 -1 -1 -2 1 -7 0 -2 5 -1 1 5 2 2 -1 6 -7",
  "-3187 440 -2 -2 -7 3 1 2 3 2 5 -1 0 -4",
  "-1594 455 8 -7 19 2 7 -4 17 -13 13 -9 6 0 12 -4 -1 -5 14 -1 15 -8 -2 -5 -13 -3 -14 -1 -13 2 -29 -2 13 11 -8 5 -13 2 -7 6 -4 11 -12 -1 -18 6 -6 4 -26 3 -7 4 7 5 -20 1 -14 -11 -8 0 -3 -5 -10 -2 -8 2 10 6 4 7 9 5 11 4 15 2 5 2 17 -2 16 0 18 -7",
  "-1551 475 -5 -1 -5 12 -7 5 4 13 6 -1 7 -16 0 -12",
  "2424 456 -9 -17 -11 17 -2 15 12 20 16 15 9 -6 -3 -12 -12 -32",
  "-1556 532 -22 -4 -2 8 10 1 13 0 1 -5",
  "-1540 532 -3 -14 -4 2 0 11 -9 8 0 2 16 -9",
  "2693 683 2 -7 -11 -12 -8 6 -10 -4 -6 -12 -13 6 0 9 12 12 11 -2 8 8 15 -4",
  "692 713 -14 -8 2 -4 0 -1 -20 -9 -10 3 -5 8 10 1 1 0 3 5 14 -1 19 6",
  "474 714 11 -7 16 2 14 -2 0 -3 11 2 -3 -6 -29 -2 1 4 -25 4 4 8",
  "310 765 -7 -16 3 -6 -4 -11 -15 8 -10 2 -28 10 2 11 24 -2 20 2 15 2",
  "184 824 12 -14 -3 -26 -9 1 -8 -7 -7 5 -1 25 -5 11 11 -1 10 6",
  "2820 743 -8 -16 3 -10 -10 -14 -26 -10 -35 -1 -28 -23 -14 8 0 15 -35 -4 -24 -10 -23 0 20 -15 -13 -34 -13 -8 -10 7 5 18 -13 6 -8 14 19 6 11 13 20 10 14 14 40 6 22 -4 20 35 14 -9 29 20 12 7 12 25 -3 22 8 13 21 4 11 -28 0 -16 -19 -21 1 -20",
  "191 843 -6 -15 -9 4 -5 13 4 8 13 7 3 -17",
  "2878 883 14 -4 14 9 5 -23 -30 -5 -17 -20 -32 14 -11 -22 -22 -1 -3 20 10 16 22 1 5 27 6 16 24 -21 15 -7",
  "-1273 931 14 -3 19 1 -10 -8 -7 -2 -26 9 -5 7 8 6 7 -10",
  "-1236 982 -10 0 -26 6 -18 9 7 2 26 -5 20 -8 1 -4",
  "-2470 970 -10 -3 -33 10 -6 7 -18 7 -4 5 -20 4 -8 11 2 4 21 -4 12 -3 19 -2 7 -7 10 -9 20 -9 8 -11",
  "-1123 1014 -13 -18 13 7 14 -4 -7 -7 17 -6 10 5 19 -6 -6 -15 14 4 3 -11 6 -12 -8 -18 -9 -1 -14 4 5 17 -6 2 -23 -17 -12 0 14 10 -19 5 -22 -2 -38 1 -3 6 12 7 -9 5 17 13 21 31 12 12 18 7 9 -1 -4 -6 -11 -12",
  "-2654 1081 19 1 -6 -22 17 -16 -8 0 -12 9 -7 9 -10 6 -4 9 1 6 10 -2",
  "2873 1015 20 -35 -29 6 -13 -29 20 -20 -1 -14 -15 12 -13 -16 -4 17 2 20 -2 21 5 15 1 27 -12 20 2 27 18 9 -8 10 9 2 5 -13 7 -19 0 -20 8 -20",
  "-136 1045 -35 -12 -29 3 17 21 -11 21 27 15 16 10 16 0 22 -12 -11 -14 3 -14 -15 -18",
  "254 1112 -12 -16 -21 11 -3 9 29 6 7 -10",
  "-3060 1142 -20 -7 -10 5 -3 9 18 7 10 3 14 -1 8 -6 -17 -10",
  "-60 1173 -21 -22 20 3 22 0 -5 -17 -18 -18 20 -1 20 -26 13 -3 13 -23 5 -7 25 -4 -3 -13 -10 -6 8 -10 -18 -11 -27 1 -34 -6 -9 4 -13 -9 -19 2 -14 -8 -11 4 30 21 18 5 -32 3 -5 8 21 6 -11 11 3 13 30 -2 3 12 -14 12 -24 4 -5 5 8 9 -7 6 -11 -10 -1 19 -10 11 7 20 16 17 16 -2 24 2",
  "-3312 1198 -12 -3 -13 4 -12 5 20 4 15 -2 2 -8",
  "-1585 1243 -8 -10 -9 1 -5 6 1 2 7 6 9 -1 5 -4",
  "-1638 1254 -23 -11 -14 1 -5 5 15 9 27 0 0 -4",
  "-3435 1276 13 -4 12 2 16 -5 20 -3 -1 -2 -16 -4 -15 4 -7 4 -18 -2 -5 2 1 8",
  "-1703 1313 3 -9 11 3 11 -5 22 -7 23 -6 2 -9 15 1 14 -6 -18 -7 -31 5 -11 9 -20 -11 -28 -10 -7 12 -27 -2 17 10 2 15 7 19 15 -2",
  "-290 1329 -5 -13 23 -13 -26 -16 -58 -13 -17 -4 -26 3 -56 6 19 9 -43 10 35 4 -1 6 -42 4 14 13 30 3 31 -13 31 11 25 -6 33 11 33 -2",
  "-1517 1343 -23 -1 -5 10 9 11 18 3 16 -6 0 -8 -2 -3 -13 -6",
  "-3600 1379 49 -15 52 -20 -1 -12 13 -5 -4 14 54 -3 39 -18 -20 -9 -33 -2 0 -20 -8 -4 -19 1 -15 7 -27 5 -4 9 -20 3 -23 -2 -11 7 4 7 -24 -5 9 -9 -11 -8",
  "-1913 1382 -12 -7 -27 6 -17 -2 -27 9 18 6 14 9 21 -6 12 -3 6 -4 12 -8",
  "3600 1417 -22 -1 -3 6 25 8",
  "-3625 1422 25 8",
  "-3600 1430 3 1 17 0 28 -6 -1 -2 -21 -5 -26 -1",
  "-1811 1390 0 -21 27 16 24 -13 -6 -15 19 -13 21 14 14 18 2 22 28 -2 30 -3 26 -10 2 -10 -15 -10 14 -11 -3 -10 -39 -14 -28 -3 -20 6 -6 -10 -20 -17 -5 -8 -24 -14 -28 -1 -16 -9 -1 -13 -24 -2 -24 -17 -22 -22 -8 -16 -1 -23 30 -3 9 -19 9 -15 28 4 37 -9 20 -8 15 -9 25 -6 21 -8 33 -1 22 -2 -4 -17 6 -20 15 -23 30 -19 15 7 11 20 -10 32 -15 10 32 10 23 14 11 14 -1 13 -14 17 -24 15 23 21 -8 18 -7 31 14 5 34 -5 21 -2 16 5 19 -7 24 -11 7 -8 35 -2 0 -17 6 -25 19 -3 14 -12 29 11 19 22 13 10 16 -18 26 -26 22 -24 -8 -12 27 -11 18 -12 31 -5 13 -6 8 -17 16 -3 8 -8 1 -22 -14 -8 -15 -7 -33 -7 -25 -16 -33 -3 -43 4 -30 0 -21 -1 -17 -15 -25 -9 -29 -26 -23 -19 17 4 32 26 42 17 30 2 18 -10 -19 -14 6 -21 7 -15 26 -10 33 3 20 22 1 -14 13 -8 -25 -13 -44 -12 -20 -8 -22 -14 -15 1 -1 17 35 17 -33 -1 -22 -2 4 -7 -22 -9 -20 -7 -21 -6 -12 -13 -2 -4 -1 -10 7 -11 8 0 -2 7 6 -5 -1 -5 -14 -3 -9 0 -15 -4 -9 -1 -12 -1 -16 -5 29 3 6 -3 -28 -6 -13 0 1 2 -6 -6 6 0 -5 -15 -14 -15 -2 5 -4 1 -7 5 5 -11 4 -3 1 -8 -7 -8 -11 -16 -2 1 7 14 -11 7 -2 17 -4 -9 4 -12 -12 3 13 -7 1 -19 6 -1 2 -7 2 -20 -12 -15 -21 -6 -13 -11 -10 -2 -10 -7 -3 -7 -22 -13 -11 -9 -10 -12 -3 -14 4 -14 6 -17 9 -15 0 -8 10 -23 -1 -14 -1 -8 -5 -12 -6 -2 -9 2 -4 9 -7 4 -11 18 -9 15 -3 8 4 13 -6 11 -15 17 -8 3 -20 -9 -4 1 -9 9 -13 5 -23 -3 -17 3 -16 -2 -8 -2 4 -6 -1 -8 5 -4 -4 -3 -8 3 -7 -4 -15 1 -15 11 -17 -3 -14 5 -13 -2 -17 -4 -18 -15 -20 -9 -11 -9 -4 -9 -1 -14 1 -10 4 -7 -8 -17 -3 -15 -2 -26 -1 -10 3 -11 6 -10 4 -15 13 -15 5 -12 8 -9 21 -6 8 -8 18 5 15 3 15 3 13 4 13 8 4 11 2 17 3 6 14 5 21 5 18 -1 12 2 5 -4 -1 -10 -11 -12 -4 -12 3 -4 -3 -8 -5 -16 -5 5 -4 0 0 -3 4 0 0 -5 -4 -9 2 -3 -2 -7 1 -2 -2 -10 -4 -6 -4 0 -4 -7 7 -4 2 3 6 -2 2 -1 4 3 6 1 2 -2 3 1 9 -2 9 1 7 2 2 2 6 -1 5 -1 5 0 4 2 9 -3 4 0 6 -4 6 -5 7 -3 5 -5 -2 -2 -1 -4 2 -8 -4 -7 -2 -8 -1 -8 1 -6 1 -9 -4 -2 -1 -8 1 -5 -4 -6 1 -5 3 -3 5 -11 8 -8 9 -9 7 -7 0 -4 8 -1 2 2 5 -5 10 1 9 5 12 4 7 6 11 -1 -1 -2 11 -1 9 -3 6 -6 8 -6 10 0 15 14 9 2 0 6 3 17 12 10 12 0 2 4 16 -1 15 10 8 4 10 10 7 -1 5 -6 -4 -6 0 -5 -12 -3 7 -9 -1 -10 -8 -12 7 -16 9 2 4 14 -6 7 -1 15 25 9 -3 9 7 6 7 -14 14 0 13 -11 1 -7 18 0 21 2 12 -9 15 -2 11 6 1 5 24 1 24 0 -17 -6 7 -9 16 -2 15 -9 4 -16 10 0 8 -5 13 -7 12 -13 1 -10 7 -1 11 -10 8 -7 24 -4 2 4 16 2 22 -6 7 -2 14 -5 22 -17 3 -8 7 1 5 -11 11 -35 11 -3 0 -14 -15 -17 6 -6 36 -3 0 -20 16 13 25 -7 33 -12 10 -12 -4 -11 24 6 39 -10 29 1 30 -17 26 -22 15 -6 17 -1 7 -6 7 -26 3 -12 -8 -33 -10 -13 -28 -28 -13 -22 -14 -18 -5 0 -6 -15 1 -37 -5 -31 -2 -13 -7 -8 -3 -27 -21 -26 -3 -21 -16 -8 -5 -12 -22 0 -31 -8 -14 -9 -22 -6 -24 -16 -17 -20 -3 -14 3 -12 -3 -20 -5 -9 -14 -11 -22 -36 -18 -16 -13 -9 -9 -19 -13 -11 -9 -13 -23 -11 -14 4 -11 -2 -19 8 -13 0 -13 11 -1 -11 26 -17 -3 -14 12 -8 -1 -10 -19 -26 -30 -10 -40 -5 -22 2 5 -11 -5 -15 4 -11 -12 -7 -20 -2 -20 7 -7 -5 2 -20 14 -6 11 6 6 -10 -19 -6 -16 -13 -3 -20 -4 -11 -19 0 -16 -10 -6 -15 20 -15 19 -4 -7 -18 -23 -11 -13 -23 -19 -8 -8 -10 7 -20 13 -12 -8 1 -18 0 -10 -5 -18 -7 -3 -19 -9 0 -22 6 -23 14 -25 12 -6 12 5 12 -10 13 -2 35 8 19 21 15 -30 6 19 18 7 33 22 -7 11 41 -14 6 -6 -25 -13 2 7 29 6 37 10 14 -6 19 -2 23 9 1 12 32 14 32 8 30 -4 30 6 16 -3 25 12 24 4 39 6 41 6 45 -1 33 -4 28 -21 12 -1 8 -40 20 -36 22 -15 12 -8 17 3 5 -17 27 -20 36 -19 40 -8 9 -6 15 -16 13 -14 8 6 9 -9 19 6 14 16 13 11 15 -5 9 -7 -10 -12 9 4 6 -4 18 7 3 4 12 8 13 -2 8 11 5 14 8 -3 6 8 1 -1 10 4 8 10 1 9 12 7 11 -7 5 4 11 -5 19 5 5 -4 17 -8 10 -6 6 -5 11 5 5 -5 2 -3 6 -10 6 -9 -1 -4 -7 -8 -5 -5 -1 -2 -4 10 -11 -6 -3 -2 -3 -10 -1 -3 12 -3 -3 -6 1 -4 8 -9 2 -5 2 -8 0 -1 -5 -2 3 -11 5 -4 4 2 4 -1 4 -5 5 -8 4 -7 2 -1 6 -6 4 2 -6 -4 -5 -5 6 -6 2 -3 4 0 6 3 6 -6 3 5 4 -7 6 -10 8 -4 7 -8 6 -10 9 2 3 3 -3 2 2 -4 6 -6 2 -2 -5 -12 0 -7 2 -8 4 -11 1 -6 5 -10 3 -13 1 -9 4 -11 8 -22 21 -11 7 -16 5 -11 -1 -16 -8 -10 -2 -14 5 -15 4 -19 9 -15 3 -23 9 -16 10 -5 5 -12 2 -20 6 -8 9 -22 11 -10 13 -5 10 7 2 -2 5 5 6 0 6 -7 9 -2 8 -7 10 -17 20 -20 16 -10 12 -17 9 -4 5 3 12 -10 5 -12 9 -5 14 -11 2 -11 10 -10 10 0 6 -11 15 -7 16 0 7 -14 8 -7 -1 -12 6 -3 -8 4 -10 2 -15 6 -8 15 -14 4 -4 3 -2 2 -7 4 1 4 -13 6 -5 4 -8 13 -10 6 -18 6 -9 6 -9 1 -11 10 -1 8 -9 7 -9 -1 -3 -8 -8 -4 0 -5 13 -13 11 -14 10 -11 5 1 14 -3 11 -10 6 -13 9 -3 -2 -5 5 -12 5 -12 11 1 2 9 -1 7 7 1 9 -16 15 -11 5 -8 13 -7 13 -9 16 -9 18 -3 10 -13 11 -9 3 -2 6 -12 1 -7 5 -18 2 -5 3 -3 11 -19 20 -17 28 1 5 -9 6 -16 17 -2 16 -11 11 4 17 0 17 -7 15 8 19 5 36 -4 27 -6 17 -6 10 3 4 29 -7 10 -19 5 5 -3 17 -7 16 -3 0 -38 20 -15 8 -36 9 -11 17 3 13 -26 8 -3 16 -24 15 -1 10 -11 8 -17 6 -6 17 -26 17 -11 18 -19 2 -32 0 -23 6 -41 21 -19 4 -35 7 -28 -2 -40 9 -23 9 -23 -5 5 -13 -11 -2 -24 -4 -17 -7 -22 -4 -3 12 9 20 21 6 -5 5 -26 -11 -14 -14 -28 -14 14 -10 -19 -14 -21 -8 -20 -7 -5 -8 -31 -11 -7 -9 -23 -9 -14 2 -18 -6 -21 -7 -16 -6 -35 -6 -3 3 22 10 20 6 21 11 25 2 10 8 27 12 5 4 15 7 3 16 10 11 -23 -6 -6 4 -11 -8 -13 11 -6 -8 -7 10 -20 -8 -12 0 -2 12 4 8 -13 7 -26 -4 -17 9 -14 5 0 11 -15 9 7 12 17 11 7 10 16 1 14 -3 16 10 14 -2 16 6 -4 9 -11 4 14 8 -12 0 -21 -5 -6 -4 -16 4 -28 -2 -29 5 -9 8 -25 11 28 9 45 10 16 0 -3 -10 42 0 -16 13 -24 7 -15 10 -19 9 -27 6 11 11 35 0 26 9 4 10 21 10 19 2 38 9 19 -2 30 11 31 -4 14 -9 9 4 34 -1 -1 -5 30 -3 21 2 42 -7 38 -2 16 -2 26 3 31 -6 21 -3 38 -5 31 -9 21 -2 17 8 25 7 29 -3 30 9 33 5 14 -8 15 4 4 10 14 -2 34 -18 26 13 3 -15 25 3 7 6 25 -1 30 -8 47 -8 27 -3 20 1 27 -10 -28 -10 36 -4 54 2 17 4 21 -12 22 10 -20 8 13 7 24 1 16 2 16 -5 20 -11 23 2 35 -9 31 3 29 0 -2 12 18 4 31 -7 -1 -19 13 16 16 -1 9 20 -21 13 -23 8 1 22 24 14 26 -3 20 -9 28 -22 -18 -10 37 -4",
  "-2283 1462 -10 -9 44 6 28 -10 23 10 18 -6 16 -20 10 8 -14 21 18 3 20 -3 22 -9 13 -19 6 -14 33 -10 36 -9 -2 -9 -33 -2 13 -8 -7 -7 -36 3 -34 6 -23 -2 -38 -6 -59 -4 -27 -1 -11 9 -27 6 -18 -3 -25 16 13 2 31 4 29 -1 26 3 -39 5 -43 -2 -28 1 -11 7 47 8 -31 0 -35 5 17 15 14 8 53 12 21 -4",
  "-2090 1468 -18 -13 -31 14 7 3 27 1 15 -5",
  "-1527 1462 2 -5 -21 0 -22 1 -22 -3 -5 1 -23 11 1 7 10 1 46 -2 34 -11",
  "-1731 1463 16 -12 18 16 51 8 34 -21 -3 -13 40 6 19 8 44 -10 27 -10 3 -8 37 4 21 -13 48 -8 18 -8 19 -18 -37 -10 47 -13 32 -4 29 -18 31 -2 -6 -14 -35 -23 -25 9 -31 19 -26 -3 -3 -11 21 -12 27 -9 9 -5 13 -20 -7 -15 -25 6 -51 16 29 -17 20 -12 4 -7 -55 8 -42 11 -25 10 7 6 -30 10 -29 10 1 -6 -58 -3 -17 6 13 15 38 1 41 2 -7 7 7 10 26 20 -6 9 -7 6 -31 10 -40 7 12 5 -21 12 -17 2 -16 6 -11 -6 -36 -2 -73 4 -42 6 -33 3 -16 7 21 9 -29 0 -6 21 15 18 21 8 51 5 -14 -13",
  "-2007 1477 24 -4 35 2 6 -6 -19 -9 30 -9 -3 -18 -33 -8 -19 2 -14 8 -50 15 0 7 41 -3 -22 13 24 10",
  "2872 1464 -30 0 -41 2 -4 1 19 8 25 2 29 -8 2 -5",
  "-1864 1455 -21 -15 -23 1 -13 18 1 10 10 8 20 6 42 -1 38 -5 -30 -18 -24 -4",
  "-2409 1428 -53 -10 -10 9 -47 10 7 7 16 16 17 14 -19 12 67 3 29 -4 51 -1 19 -6 22 -9 -25 -5 -49 -14 -25 -14 0 -8",
  "3015 1502 -23 -8 -32 2 -38 7 5 7 37 -3 51 -5",
  "-1872 1500 -11 -8 -29 1 -24 6 10 9 29 5 17 -7 8 -6",
  "2902 1511 -16 -15 -74 1 -33 -5 -39 13 10 14 27 4 52 -1 73 -11",
  "-1970 1534 15 -9 1 -10 -9 -15 -33 -2 -22 3 1 12 -33 -2 -1 16 21 -1 30 7 28 -1 2 2",
  "-2164 1524 8 -7 17 3 21 -1 4 -9 -12 -10 -68 -3 -50 -9 -31 0 -2 6 41 9 -90 -2 -28 3 27 20 19 6 56 -7 36 -12 35 -2 -29 20 18 7 21 -2 7 -10",
  "1151 1414 -12 -1 -65 2 -6 9 -36 5 -3 11 21 5 -1 11 40 17 -19 2 48 18 -5 9 44 10 66 13 67 4 34 7 39 3 14 -8 -13 -6 -71 -10 -61 -10 -62 -19 -30 -19 -32 -20 4 -16 39 -17",
  "-1894 1542 23 -6 39 0 17 -7 -4 -8 23 -4 12 -5 27 -1 29 -1 32 4 41 2 32 -2 22 -7 4 -9 -12 -5 -30 -4 -26 2 -57 -3 -41 0 -32 2 -53 7 -7 11 -3 10 -20 8 -41 3 -23 6 7 8 41 -1",
  "-2324 1553 -3 -15 -15 -7 -19 -1 -37 -9 -32 -3 -27 4 34 15 41 13 31 0 27 3",
  "982 826 10 -15 10 0 6 -6 -17 -1 -3 -16 -3 -7 -8 -5 1 -10 6 -14 19 -5 14 -10 28 -3 32 5 1 5 -3 14 3 21 -16 7 5 14 -13 1 4 17 19 -5 18 6 -15 12 -6 11 -16 -5 -2 -14 -6 13 -1 5 5 8 -4 7 -23 7 -9 18 -11 5 -1 6 20 -2 0 15 17 3 18 -3 3 20 -3 12 -20 -1 -17 5 -23 -9 -19 -4 -9 -12 -19 -3 -20 -21 18 -19 -2 -13 22 -24 10 -10",
  "3600 1299 -26 -8 -26 1 18 -10 12 -17 9 -5 3 -9 -5 -5 -38 4 -56 -15 -17 -2 -31 -14 -29 -12 -7 -9 -29 13 -52 -15 -9 7 -19 -8 -27 2 -7 -13 -24 -19 1 -8 23 -5 -3 -29 -18 -1 -9 -16 8 -9 -35 -10 -7 -23 -29 -5 -6 -20 -29 -19 -8 14 -8 29 -11 45 9 27 17 12 1 10 31 4 36 25 34 21 36 16 16 28 -24 -2 -12 -16 -51 -22 -16 24 -52 -6 -50 -34 17 -12 -45 -5 -31 -2 2 14 -31 3 -25 -10 -61 4 -66 -6 -65 -39 -76 -47 31 -3 10 -12 19 -5 13 10 22 -1 29 -22 1 -17 -16 -20 -2 -24 -9 -32 -30 -29 -7 -14 -27 -23 -27 -23 -13 -12 -26 -12 -13 0 -12 10 -27 -15 -3 -7 -8 2 -9 -7 -6 -7 1 -14 -10 -5 -4 -3 -7 -6 -14 -3 -8 -6 -1 -9 -2 -2 8 -3 11 -9 17 -23 5 -13 0 -23 -7 -11 -18 -4 -16 -8 -18 -2 -3 11 4 15 -9 21 15 3 -13 17 -10 4 -3 -4 -5 -2 -1 4 -5 2 -6 3 6 9 4 2 -1 4 5 11 -2 3 -11 2 -10 6 -28 -6 -14 -10 -22 -5 11 9 -4 8 15 13 -10 11 -18 -7 -22 -14 -13 -13 -19 -1 -10 -9 10 -14 17 -3 0 -9 16 -6 22 14 18 -7 13 -1 3 -10 -28 -6 -9 -11 -20 -10 -10 -14 22 -11 7 -19 13 -19 13 -15 0 -15 -13 -5 5 -11 12 -6 -3 -17 -5 -15 -11 -2 -15 -22 -16 -26 -19 -24 -27 -18 -28 -17 -23 -3 -12 -9 -7 7 -11 -10 -28 -10 -21 -3 -7 -21 -11 -1 -5 14 4 8 -27 6 -9 -3 -27 -17 -16 -19 -5 -14 16 -21 18 -26 18 -12 13 -16 9 -37 -3 -36 -17 -13 -23 -13 -16 -16 -25 -19 -7 13 6 13 -15 12 -17 3 -8 10 -10 21 -18 9 -17 0 3 15 -18 0 -2 -22 -10 -29 -7 -18 1 -14 13 -1 9 -18 3 -17 11 -12 12 -2 11 -11 4 -1 12 -12 9 -14 1 -13 -2 -9 2 -7 1 -12 7 -6 8 -17 0 -7 -15 -1 -19 14 -23 16 -3 10 -11 14 -3 16 -7 11 2 15 -4 8 -8 8 -4 10 -10 11 -10 10 -3 -12 -4 11 2 12 6 20 -2 15 6 15 -6 12 1 21 -8 11 -6 24 -4 25 -9 17 -13 -10 -23 -15 -11 2 -12 5 7 25 -4 18 -16 23 2 8 -11 2 -15 16 -5 11 -1 10 -4 10 -9 11 -18 1 2 -8 -7 -11 -8 4 -3 -4 -6 2 -7 2 -3 -7 -14 0 -24 -4 1 -15 -11 -12 -29 -13 -22 -24 -15 -13 -20 -13 0 -9 -10 -5 -18 -7 -9 -1 -7 -15 5 -26 1 -17 -9 -19 0 -34 -10 -1 -9 -15 6 -7 -18 -5 -7 -14 -8 -6 -19 19 -9 28 -8 20 -7 10 -11 19 -5 25 -3 12 -18 28 -9 39 -6 25 0 24 -3 19 -30 -12 -14 3 -26 24 10 7 -6 8 -23 17 -15 5 -6 14 -16 15 -36 -3 -33 -1 -28 -2 -38 6 -21 4 -23 3 -9 24 -9 4 -16 -4 -20 -9 -24 6 -20 16 -20 5 -13 19 -15 27 -10 -3 -13 6 -8 -7 -11 1 4 -9 -2 -5 6 -15 8 -17 10 -5 3 -7 14 -8 1 -8 -2 -7 3 -7 6 -5 2 -7 3 -5 -1 15 5 10 6 2 6 -6 0 -12 -4 -11 4 -8 3 1 1 -6 16 4 16 -1 12 -1 14 14 15 13 12 12 6 7 3 -2 -2 -8 -3 -4 3 -15 9 -14 11 -7 15 -3 12 -4 9 -11 5 -7 7 -2 0 -5 -7 -12 -3 -5 -9 -7 -7 -13 -9 1 -4 -5 -4 -10 3 -14 -2 -2 -9 0 -13 -8 -2 -9 -4 -4 -13 0 -8 -5 0 -8 -9 -6 -11 2 -14 -7 -9 -1 -14 -5 -4 -9 -1 -7 -20 -8 -32 -10 -17 -14 -9 -1 -6 1 -12 -8 -13 -4 -16 -1 -5 -1 -5 -5 -5 -2 -3 -5 -10 0 -7 -2 -13 1 -6 11 1 11 -3 6 -4 15 -6 8 4 1 -2 9 2 4 0 9 -3 9 -6 6 -2 7 -10 8 -11 16 -5 17 -14 13 -9 4 -13 19 -3 14 1 12 -11 22 -9 8 -11 4 -7 11 1 5 -5 10 -6 5 -8 14 -12 17 -10 13 -10 0 3 11 1 7 2 8 -1 3 -5 -8 -4 -15 -6 -11 -5 -3 -6 6 -9 9 -15 29 -2 -2 9 -21 12 -20 15 -31 7 -11 7 -11 18 -22 -4 -4 1 -13 23 -18 3 -4 7 -20 -5 -3 3 -21 8 -24 7 -5 11 -7 12 -23 5 -19 11 -9 28 -19 11 -12 11 -11 6 -7 10 -6 4 -6 0 -8 -12 -5 9 -6 6 -3 4 -9 9 -8 10 0 19 5 22 2 18 7 9 1 8 4 11 0 6 1 10 3 10 2 10 6 7 0 1 -5 -2 -12 0 -10 -4 -7 -6 -22 -10 -22 -12 -26 -17 -29 -17 -23 -24 -27 -20 -16 -30 -20 -18 -15 -22 -24 -5 -11 -4 -5 -14 -8 -5 -8 -8 -1 -3 -15 -6 -8 -4 -13 -8 -7 -9 -24 1 -12 13 -7 0 -5 -5 -12 1 -6 -1 -10 7 -12 8 -20 7 -4 4 -9 -1 -20 2 -18 1 -31 4 -10 -6 -14 -8 -14 -13 -12 -18 -8 -23 -10 -22 -21 -8 -4 -14 -14 -8 -5 -2 -14 10 -15 3 -12 1 -6 3 1 0 -19 -4 -10 5 -3 -3 -8 -8 -8 -17 -6 -24 -11 -9 -8 2 -8 5 -1 -1 -11 -5 -14 -3 -17 -5 -9 -14 -10 -3 -3 -9 -10 -6 -10 -11 -15 -23 -20 -14 -12 -15 -10 -21 -7 -10 -1 -2 -6 -13 3 -9 -4 -22 4 -12 -2 -9 1 -20 -8 -17 -3 -13 -8 -9 0 -8 7 -7 0 -9 9 0 -3 -3 6 0 11 -6 14 6 3 -1 16 -13 18 -10 17 -14 26 -15 16 -8 14 -4 20 -5 14 -7 31 0 24 -3 11 -8 8 -10 17 -10 24 -5 12 -16 20 -1 15 -2 13 3 17 6 18 2 9 6 18 5 8 11 13 7 9 2 15 -1 11 -6 8 -6 12 -4 12 1 4 6 8 -6 19 -4 13 -10 13 1 4 -2 6 -6 15 -16 21 -21 21 -13 16 -12 21 1 6 4 7 5 14 4 15 -4 3 7 23 3 15 -8 14 -9 3 -4 9 -5 3 0 5 -21 -7 -7 1 -8 -4 -16 0 -11 13 -6 14 -14 13 -16 0 -17 0 -17 -2 -16 -4 -31 -12 -11 -7 -18 -6 -18 6 -9 0 -14 4 -13 -1 -24 -3 -14 -6 -19 -7 -4 0 -6 0 -20 10 -18 15 -17 11 -14 13 -5 1 -15 8 -10 11 -3 7 -3 15 -9 12 -7 8 -6 2 -5 4 -2 9 -3 5 -6 3 -10 8 -9 2 -4 5 0 3 -6 4 -2 5 -3 15 3 9 -9 15 -9 8 8 3 10 14 5 11 -2 10 6 10 2 19 -2 20 -3 10 2 10 -5 9 -10 9 1 8 1 10 7 5 7 11 -2 6 7 14 12 13 6 3 6 12 0 11 7 12 13 7 13 21 11 8 18 2 16 14 10 5 17 17 -5 25 7 17 3 10 13 14 20 9 15 8 13 21 6 12 15 0 12 -8 19 1 21 -4 9 -1 19 11 21 4 13 8 19 6 34 4 33 1 10 -3 19 8 22 0 8 -4 13 1 22 8 14 -2 0 -11 17 8 1 -4 -10 -10 0 -9 7 -5 -3 -17 -13 -10 4 -11 10 -1 5 -9 8 -3 23 -7 9 2 16 -4 27 -9 9 -17 18 -4 28 -9 22 -10 10 6 9 9 -5 15 7 10 14 9 14 3 27 -4 7 -9 7 0 7 -4 19 -2 5 -7 27 1 19 -6 20 -5 9 -4 16 7 8 5 18 2 14 -2 5 -10 5 6 16 -5 15 -1 10 5 6 7 -1 1 5 9 4 16 3 5 1 0 7 16 10 14 0 1 -2 15 5 8 -7 10 7 7 -12 -2 -17 5 -13 -12 -31 -2 -16 11 -22 1 -4 -9 -14 -2 -19 11 -22 -1 -12 20 -15 11 10 16 -13 9 23 19 30 1 9 15 38 -2 24 13 23 5 33 1 35 -14 29 -8 23 3 17 -2 24 11 3 8 -5 14 -11 7 -12 3 -7 6 -25 17 -23 7 -17 12 14 3 17 17 -12 8 30 8 -1 4 -18 -3 -16 -2 -13 -6 -19 -1 -17 -8 1 -12 10 -5 21 1 -4 -7 -22 -3 -27 -12 -11 4 4 10 -22 6 4 3 19 7 -6 5 -31 5 -2 7 -18 -2 -7 -11 -16 -15 1 -5 -10 -5 -6 2 -6 -24 -10 -8 -7 -14 6 -12 2 -8 18 -6 -4 -5 -24 -1 -8 -6 -17 -11 -6 9 0 4 -12 1 -11 2 -24 -5 14 -12 -10 -3 -11 0 -11 11 -3 -5 4 -12 10 -9 -8 -5 12 -9 9 -6 1 -11 -19 5 6 -10 -12 -2 7 -18 -13 0 -17 9 -7 16 -4 13 -7 9 -11 12 -1 6 -3 1 -1 4 -11 7 -2 10 2 13 3 6 -4 4 -4 1 -5 7 -9 4 -19 7 -11 7 -19 6 -16 15 4 1 -10 9 0 7 -13 3 -6 -9 -6 7 1 7 5 2 -16 3 -16 -7 1 -10 -3 -6 7 -10 19 -10 10 -17 22 -16 15 0 5 -4 -5 -4 18 -7 14 -6 18 -11 2 -4 -4 -7 -11 10 -18 3 -8 -13 14 -7 -2 -11 -8 -1 -11 -17 -8 -2 0 6 4 11 4 4 -8 12 -6 10 -8 2 -6 9 -13 4 -8 8 -15 1 -16 9 -18 13 -14 12 -6 19 -10 3 -16 6 -9 -2 -12 -10 -8 -1 -18 -11 -40 5 -29 -7 -2 -12 1 -11 -19 -13 -26 -5 -2 -6 -12 -12 -8 -16 8 -11 -11 -9 -5 -13 -15 -4 -14 -16 -25 0 -19 1 -13 -8 -8 -7 -9 2 -8 6 -5 12 -19 3 -8 -5 -11 3 -10 -3 3 16 -2 12 -9 2 -5 8 2 13 8 7 1 8 5 12 -1 9 -4 7 -1 7 1 14 -8 9 28 14 25 -4 27 0 21 -3 17 1 32 -1 10 12 4 40 -21 21 -14 10 -31 8 -2 15 26 4 34 -5 -7 23 19 -9 47 16 6 16 17 4 16 4 11 5 17 30 28 8 16 0 4 4 17 1 3 -4 14 9 -5 8 0 11 -9 11 0 21 3 5 6 6 17 1 8 6 16 6 -1 -11 -6 -6 2 -6 11 -3 -5 -7 -6 2 -14 -15 5 -9 1 -8 20 -5 0 -7 20 4 11 5 23 -7 9 -7 14 6 31 9 25 7 20 -3 2 -5 19 0 5 8 27 7 -4 17 1 15 10 12 18 7 16 -15 16 1 4 15 3 12 -8 -3 -12 7 -2 12 25 5 25 3 22 -3 21 1 22 11 -21 9 -36 -2 -35 -7 -33 -4 -11 11 -20 6 5 20 -10 18 10 12 18 12 46 22 13 4 -2 9 -28 9 -34 -6 -20 -13 3 -13 -31 -16 -39 -17 -15 -28 15 -14 19 -11 -19 -23 -20 -5 -8 -33 -11 -19 -25 2 -11 -16 -23 -1 -7 19 -16 23 -15 28 -14 12 -39 -23 -27 -4 -28 10 -7 21 -6 46 18 13 53 17 40 21 36 28 48 38 34 15 55 25 44 9 32 -1 31 17 36 -1 36 4 63 -15 -26 -5 22 -13 21 7 32 -12 55 -5 76 -22 15 -10 2 -13 -23 -11 -32 -5 -90 15 -14 -2 32 -15 3 -30 26 -6 15 -5 3 10 -13 9 14 7 48 -13 17 5 -14 15 47 20 18 -2 19 -7 12 14 -17 12 10 12 -15 12 56 -6 11 -11 -25 -3 0 -11 16 -7 31 5 5 12 42 10 69 17 15 -1 -19 -12 25 -2 14 7 37 0 30 9 23 -12 23 13 -21 11 10 7 59 -6 28 -6 72 -23 14 10 -21 11 0 4 -24 2 6 10 -11 15 0 7 37 18 13 18 15 4 53 -5 4 -12 -19 -16 12 -6 7 -14 -5 -28 22 -12 -8 -13 -39 -29 22 -3 8 8 22 5 6 10 17 9 -12 12 10 13 -22 1 -5 12 16 20 -26 16 36 13 -5 15 10 0 11 -11 -8 -19 21 -4 -9 14 34 8 41 1 37 -11 -18 17 -2 21 35 4 48 -1 43 3 -16 10 23 13 23 1 39 10 53 2 7 6 52 2 17 -5 44 11 37 0 6 8 19 9 47 8 34 -7 -27 -4 45 -4 6 -9 18 4 59 0 45 -10 16 -7 -5 -10 -22 -6 -53 -11 -15 -6 25 -3 29 -5 18 4 11 -13 8 5 32 3 65 -3 4 -10 84 -3 1 16 43 -4 32 0 32 -10 9 -13 -12 -8 25 -16 32 -8 19 21 32 -9 34 5 39 -6 15 6 32 -3 -14 18 26 9 181 -13 17 -12 52 -15 81 4 40 -4 17 -8 -3 -15 25 -5 27 4 35 0 38 -4 38 3 35 -18 24 6 -16 13 9 9 64 -6 41 2 58 -10 28 -9",
  "-3628 1388 28 -9",
  "-1877 1550 -9 0 -37 1 -6 6 41 -1 14 -3 -3 -3",
  "-2204 1554 -37 -6 -30 7 16 6 30 2 28 -3 -7 -6",
  "494 1557 -44 -8 -35 5 13 5 -12 6 42 4 8 -7 28 -5",
  "-2193 1572 -25 -4 -33 0 1 3 20 6 11 -1 26 -4",
  "-1917 1561 -29 -4 -16 5 -9 7 -2 8 26 0 12 -2 24 -7 -6 -7",
  "-2001 1567 8 -9 -33 2 -33 7 -45 1 20 6 -24 4 -2 8 39 -3 55 -7 15 -9",
  "2102 1566 -113 -8 36 27 17 2 15 -1 50 -12 -5 -8",
  "365 1594 66 -15 -50 -8 -12 -14 -17 -4 -10 -17 -24 -1 -43 13 18 7 -30 5 -39 17 -15 16 54 7 11 -7 29 0 7 7 30 1 25 -7",
  "509 1608 39 -7 -29 -11 -59 -2 -58 3 -4 6 -29 0 -22 9 62 6 29 -5 20 6 51 -5",
  "1023 1611 -27 -3 -18 -1 -3 -3 -23 -4 -22 5 11 6 -44 1 39 3 30 1 4 -6 12 5 19 3 29 -4 -7 -3",
  "1999 1578 -44 -3 -56 6 -33 8 -15 14 -27 4 52 14 43 4 39 -10 46 -19 -5 -18",
  "-1740 1593 24 -6 -28 -6 -37 -15 -35 -2 -42 3 -21 8 0 7 16 6 -36 -1 -23 7 -12 9 14 9 14 6 20 2 -9 4 47 1 25 -11 34 -4 33 -4 16 -13",
  "-1370 1662 53 -1 43 -3 37 -5 -1 -6 -49 -8 -48 -4 -18 -5 43 0 -47 -12 -32 -6 -35 -16 -41 -3 -13 -4 -60 -3 27 -2 -13 -4 16 -9 -19 -7 -31 -6 -9 -8 -28 -6 3 -4 34 0 0 -4 -53 -12 -52 5 -59 -3 -30 2 -38 1 -2 10 37 5 -10 14 12 1 53 -8 -27 13 -32 3 16 8 35 5 6 7 -28 8 -9 10 55 -1 16 -2 31 7 -45 3 -70 -2 -35 7 -17 8 -23 6 -5 7 30 4 23 0 40 4 29 7 25 -1 21 -6 16 11 26 3 36 3 61 0 11 -2 57 4 44 -2 43 -1",
  "-542 1670 125 -15 -37 -8 -76 -1 -108 -2 10 -4 71 3 60 -7 39 6 17 -7 -22 -12 51 7 97 8 60 -4 11 -8 -82 -14 -11 -5 -64 -3 46 -1 -23 -15 -16 -13 1 -22 24 -13 -32 -1 -33 -6 37 -11 5 -17 -21 -2 26 -17 -45 -2 23 -8 -6 -7 -28 -3 -28 0 25 -13 0 -9 -40 8 -10 -5 27 -5 26 -13 8 -16 -36 -4 -15 8 -25 12 7 -14 -23 -10 52 -1 28 -1 -54 -18 -54 -16 -58 -7 -23 0 -20 -7 -28 -21 -43 -14 -14 -1 -26 -5 -29 -5 -17 -12 -1 -14 -10 -13 -32 -16 8 -16 -9 -17 -11 -19 -28 -1 -29 16 -40 0 -20 11 -13 20 -35 25 -10 13 -3 18 -27 18 7 15 -13 7 19 23 30 8 8 8 5 16 -23 -8 -11 -2 -18 -3 -25 6 -1 14 8 10 18 1 41 -6 -34 13 -18 7 -20 -3 -17 5 23 19 -13 7 -15 14 -25 21 -25 8 0 8 -53 12 -43 2 -53 -1 -49 -2 -23 7 -35 12 52 6 41 2 -86 5 -45 8 3 8 76 9 73 10 8 7 -54 7 17 8 69 14 29 2 -8 9 47 6 62 3 61 0 22 -6 53 11 48 -8 28 -1 42 -7 -48 11 3 9 67 12 70 -1 26 7 70 2 160 -3"
];

// src/coast.ts
var decoded = null;
function coastLines() {
  decoded ??= LINES.map((text) => {
    const numbers2 = text.split(" ").map(Number);
    let [x3, y5] = [0, 0];
    const points2 = [];
    for (let at = 0; at < numbers2.length; at += 2) {
      x3 += numbers2[at];
      y5 += numbers2[at + 1];
      points2.push([x3 / PER_DEGREE, y5 / PER_DEGREE]);
    }
    return points2;
  });
  return decoded;
}
function degrees(pane, axis, direction) {
  const labels = axis === void 0 ? null : pane.labels.value?.[axis];
  if (!labels || labels.kind !== "number") return null;
  const unit = new RegExp(`^degrees?_?(${direction}|${direction[0]})$`, "i");
  return unit.test(labels.unit ?? "") ? labels : null;
}
function isMap(pane) {
  const { y: y5, x: x3 } = pane.axes.value;
  return degrees(pane, y5, "north") !== null && degrees(pane, x3, "east") !== null;
}
function positions(labels, length) {
  if (labels.step !== void 0) {
    const { begin = 0, step } = labels;
    return step === 0 ? null : (value) => (value - begin) / step;
  }
  const numbers2 = Array.from({ length }, (_4, index) => numberAt(labels, index));
  const sign2 = (numbers2[length - 1] ?? 0) > (numbers2[0] ?? 0) ? 1 : -1;
  for (let at = 1; at < length; at++) {
    const [before, after] = [numbers2[at - 1], numbers2[at]];
    if (before === null || after === null || (after - before) * sign2 <= 0) return null;
  }
  if (length < 2) return null;
  return (value) => {
    let [low, high] = [0, length - 2];
    while (low < high) {
      const middle = low + high + 1 >> 1;
      if ((numbers2[middle] - value) * sign2 <= 0) low = middle;
      else high = middle - 1;
    }
    const [one, two] = [numbers2[low], numbers2[low + 1]];
    return low + (value - one) / (two - one);
  };
}
var made2 = /* @__PURE__ */ new WeakMap();
function pathOf(view, pane) {
  const key = JSON.stringify([view, pane.axes.value]);
  const labels = pane.labels.value;
  let known = made2.get(pane);
  if (known?.key !== key || known.labels !== labels) {
    known = { key, labels, path: newPath(view, pane) };
    made2.set(pane, known);
  }
  return known.path;
}
function newPath(view, pane) {
  const { y: y5, x: x3 } = pane.axes.value;
  const [north, east] = [degrees(pane, y5, "north"), degrees(pane, x3, "east")];
  const { height, width } = pane.extent;
  const rowOf = north && positions(north, height);
  const columnOf = east && positions(east, width);
  if (!rowOf || !columnOf) return null;
  const path = new Path2D();
  for (const around of [-360, 0, 360]) {
    for (const line of coastLines()) {
      let isOpen = false;
      for (const [longitude, latitude] of line) {
        const [row, column] = [rowOf(latitude), columnOf(longitude + around)];
        if (row === null || column === null || row < -height || row > 2 * height || column < -width || column > 2 * width) {
          isOpen = false;
          continue;
        }
        const at = [view.left + (column + 0.5) * view.scale, view.top + screenRow(view, row + 0.5) * view.scaleY];
        if (isOpen) path.lineTo(...at);
        else path.moveTo(...at);
        isOpen = true;
      }
    }
  }
  return path;
}
function drawCoast(context, view, pane, ratio) {
  const path = pane.showCoast.value ? pathOf(view, pane) : null;
  if (!path) return;
  const { height, width } = pane.extent;
  context.save();
  context.beginPath();
  context.rect(view.left, view.top, width * view.scale, height * view.scaleY);
  context.clip();
  context.lineJoin = "round";
  for (const [colour, thick] of [["rgba(0, 0, 0, 0.55)", 2.5], ["#ffffff", 1]]) {
    context.strokeStyle = colour;
    context.lineWidth = thick * ratio;
    context.stroke(path);
  }
  context.restore();
}

// src/paint/complex.ts
var phases = null;
function phaseTable() {
  phases ??= Uint8Array.from({ length: 257 * 257 }, (_4, at) => {
    const turn = Math.atan2(Math.floor(at / 257) - 128, at % 257 - 128) / (2 * Math.PI);
    return Math.floor((turn - Math.floor(turn)) * 256 + 1e-9) & 255;
  });
  return phases;
}
var HUES = Array.from({ length: 256 }, (_4, index) => ofHue(index / 256));
function phaseColour(real, imaginary) {
  const out = new Uint32Array(1);
  const layout = { height: 1, width: 1, sy: 0, sx: 0, sc: 1, channels: 2 };
  paintComplex({ type: "f4", data: Float32Array.of(real, imaginary), layout }, [0, 1], "linear", out);
  return out[0];
}
function paintComplex({ data, layout }, range, transform, out) {
  const { height, width, sy, sx, sc } = layout;
  const table = phaseTable();
  const scale = new Scale(range, transform === "log" ? "log" : "linear");
  for (let y5 = 0, pixel = 0; y5 < height; y5++) {
    for (let x3 = 0, at = y5 * sy; x3 < width; x3++, at += sx) {
      const real = data[at];
      const imaginary = data[at + sc];
      const magnitude = Math.sqrt(real * real + imaginary * imaginary);
      const level = magnitude === 0 ? 0 : scale.level(magnitude);
      if (level === NOT_VALID) {
        out[pixel++] = INVALID;
        continue;
      }
      const larger = Math.max(Math.abs(real), Math.abs(imaginary));
      const unit = larger > 0 ? 128 / larger : 0;
      const [red, green, blue] = HUES[table[(imaginary * unit + 128.5 | 0) * 257 + (real * unit + 128.5 | 0)]];
      out[pixel++] = rgb(
        (red * level + 127) / 255 | 0,
        (green * level + 127) / 255 | 0,
        (blue * level + 127) / 255 | 0
      );
    }
  }
}

// src/paint/flow.ts
var SECTORS = [
  [15, (i4, n3) => [255, Math.floor(255 * i4 / n3), 0]],
  [6, (i4, n3) => [255 - Math.floor(255 * i4 / n3), 255, 0]],
  [4, (i4, n3) => [0, 255, Math.floor(255 * i4 / n3)]],
  [11, (i4, n3) => [0, 255 - Math.floor(255 * i4 / n3), 255]],
  [13, (i4, n3) => [Math.floor(255 * i4 / n3), 0, 255]],
  [6, (i4, n3) => [255, 0, 255 - Math.floor(255 * i4 / n3)]]
];
var WHEEL = SECTORS.flatMap(([n3, colour]) => Array.from({ length: n3 }, (_4, i4) => colour(i4, n3)));
var LONGEST = 1 + Math.SQRT1_2 / 127;
function wheelColour(u4, v4) {
  const radius = Math.sqrt(u4 * u4 + v4 * v4);
  const angle = Math.atan2(-v4, -u4) / Math.PI;
  const position = (angle + 1) / 2 * (WHEEL.length - 1);
  const first = Math.floor(position);
  const part = position - first;
  const [red, green, blue] = [0, 1, 2].map((channel) => {
    const one = WHEEL[first % WHEEL.length][channel] / 255;
    const two = WHEEL[(first + 1) % WHEEL.length][channel] / 255;
    const colour = (1 - part) * one + part * two;
    return Math.floor(255 * (radius <= LONGEST ? 1 - Math.min(1, radius) * (1 - colour) : colour * 0.75) + 1e-6);
  });
  return rgb(red, green, blue);
}
var wheel = null;
function wheelTable() {
  wheel ??= Uint32Array.from(
    { length: 65536 },
    (_4, at) => wheelColour(((at & 255) - 128) / 127, ((at >> 8) - 128) / 127)
  );
  return wheel;
}
function paintFlow({ type, data, layout }, largest, out) {
  const { height, width, sy, sx, sc } = layout;
  const bits = asBits(data);
  const numbers2 = numbersOf(type);
  const colours2 = wheelTable();
  const factor = 127 / (largest > 0 ? largest : 1);
  for (let y5 = 0, pixel = 0; y5 < height; y5++) {
    for (let x3 = 0, at = y5 * sy; x3 < width; x3++, at += sx) {
      let u4 = numbers2 ? numbers2[bits[at]] : bits[at];
      let v4 = numbers2 ? numbers2[bits[at + sc]] : bits[at + sc];
      if (u4 - u4 !== 0 || v4 - v4 !== 0) {
        out[pixel++] = INVALID;
        continue;
      }
      u4 *= factor;
      v4 *= factor;
      if (u4 > 127 || u4 < -127 || v4 > 127 || v4 < -127) {
        const over = 127 / Math.max(Math.abs(u4), Math.abs(v4));
        u4 *= over;
        v4 *= over;
      }
      out[pixel++] = colours2[(v4 + 128.5 | 0) << 8 | (u4 + 128.5 | 0)];
    }
  }
}

// src/legend.ts
var SIDE = 44;
var LINE = 14;
function legendOf(pane) {
  if (!pane.picture || !pane.tileType || pane.chunkMap.value || pane.isEmpty) return null;
  const largest = number(Number(pane.look.value.range[1].toPrecision(4)));
  if (pane.kind.value === "flow") {
    return { caption: [`${largest} px`], words: `Colours of motions of up to ${largest} pixels`, disk: (side) => disk(side, wheelColour) };
  }
  if (pane.kind.value !== "complex") return null;
  const isLog = pane.transform.value === "log";
  const least = number(Number(pane.look.value.range[0].toPrecision(4)));
  const middle = isLog || least !== "0" ? `, the middle ${least}${isLog ? ", on a logarithmic scale" : ""}` : "";
  return {
    caption: [`|z| ≤ ${largest}`, ...middle ? [`≥ ${least}${isLog ? " log" : ""}`] : []],
    words: `Colours of complex numbers: the phase is the hue, 0 at the right and a quarter turn at the top; the edge has the magnitude ${largest}${middle}`,
    // Rows of a screen grow downwards, imaginary parts upwards.
    disk: (side) => disk(side, (real, down) => phaseColour(real, -down))
  };
}
function disk(side, colour) {
  const image = new ImageData(side, side);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const x3 = (column + 0.5 - side / 2) / (side / 2);
      const y5 = (row + 0.5 - side / 2) / (side / 2);
      pixels[row * side + column] = x3 * x3 + y5 * y5 <= 1 ? colour(x3, y5) : 0;
    }
  }
  return image;
}
function drawLegend(context, pane, width, height, ratio) {
  const legend = legendOf(pane);
  if (!legend) return;
  const side = Math.round(SIDE * ratio);
  const canvas = document.createElement("canvas");
  canvas.width = side;
  canvas.height = side;
  canvas.getContext("2d")?.putImageData(legend.disk(side), 0, 0);
  const left = width + Math.round(14 * ratio);
  const top = height - side - Math.round((6 + LINE * legend.caption.length) * ratio);
  context.drawImage(canvas, left, top);
  context.textAlign = "center";
  context.textBaseline = "top";
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  for (const [line, text] of legend.caption.entries()) {
    context.fillText(text, left + side / 2, top + side + (4 + LINE * line) * ratio, (MARGIN.right - 4) * ratio);
  }
}

// src/keep.ts
function offer(content, name) {
  const address = URL.createObjectURL(new Blob([content]));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
function fileName(pane) {
  return pane.node.path.split("/").pop() || "array";
}
function titleOf(viewer, pane) {
  const index = viewer.indexOf(pane);
  const places = pane.otherAxes.map((axis) => {
    const label2 = labelAt(pane.labels.value?.[axis], index[axis]);
    return `${pane.dimension(axis)} ${label2 ?? index[axis]}`;
  });
  return [pane.node.path || viewer.connection.hello.value?.title || "array", ...places, pane.projected].filter(Boolean).join(", ");
}
var TITLE = 24;
function composed(viewer, picture, around) {
  const ratio = devicePixelRatio;
  const canvas = document.createElement("canvas");
  canvas.width = around.width;
  canvas.height = around.height + TITLE * ratio;
  const context = canvas.getContext("2d");
  const style = getComputedStyle(around);
  context.fillStyle = style.getPropertyValue("--canvas").trim();
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.getPropertyValue("--text").trim();
  context.font = `600 ${13 * ratio}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(titleOf(viewer, picture.pane), canvas.width / 2, TITLE / 2 * ratio, canvas.width - 8 * ratio);
  context.translate(0, TITLE * ratio);
  context.drawImage(around, 0, 0);
  context.translate(Math.round(MARGIN.left * ratio), Math.round(MARGIN.top * ratio));
  context.drawImage(picture.canvas, 0, 0);
  drawLegend(context, picture.pane, picture.canvas.width, picture.canvas.height, ratio);
  drawCoast(context, picture.viewport(), picture.pane, ratio);
  drawScaleBar(context, picture.viewport(), picture.pane, ratio);
  return canvas;
}

// src/ui/Region.tsx
function RegionBox({ viewer }) {
  const region = viewer.region.value;
  const stats = useSignal(null);
  const code = useSignal(null);
  const plan = useSignal("");
  const failure = useSignal("");
  const path = region?.pane.node.path ?? "";
  const sel = region ? viewer.selectionOf(region.pane, region.box) : "";
  const playing = viewer.playing.value !== null;
  A2(() => {
    if (!region || playing) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        code.value = await viewer.api.code(path, sel);
        failure.value = "";
        stats.value = await viewer.api.stats(path, sel, { bins: 64, field: region.pane.field.value, as: region.pane.form }, abort.signal);
        const found2 = await viewer.api.plan(path, sel);
        if (!abort.signal.aborted) plan.value = String(found2.text ?? "");
      } catch (error) {
        if (abort.signal.aborted) return;
        failure.value = error instanceof Error ? error.message : String(error);
        viewer.note(error);
      }
    }, 150);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [path, sel, playing, viewer.connection.offline.value]);
  if (!region) return null;
  const { box, pane } = region;
  const found = stats.value;
  const link = `${location.origin}${location.pathname}#${toFragment({ panes: [pane.toState()], at: {}, sel })}`;
  return /* @__PURE__ */ a4("section", { class: "region", "aria-label": "Region", children: [
    /* @__PURE__ */ a4("h3", { children: [
      "Region ",
      box.y1 - box.y0,
      " × ",
      box.x1 - box.x0
    ] }),
    /* @__PURE__ */ a4("p", { children: /* @__PURE__ */ a4("code", { class: "sel", children: /* @__PURE__ */ a4("bdi", { children: sel }) }) }),
    failure.value && /* @__PURE__ */ a4("p", { class: "notice", children: /* @__PURE__ */ a4("bdi", { children: failure.value }) }),
    found && /* @__PURE__ */ a4("p", { class: "quiet region-stats", children: [
      number(found.count),
      " values, ",
      number(found.min),
      " to ",
      number(found.max),
      ", mean ",
      number(found.mean),
      ", deviation ",
      number(found.std),
      found.nan ? `, ${number(found.nan)} NaN` : ""
    ] }),
    code.value && /* @__PURE__ */ a4($, { children: [
      /* @__PURE__ */ a4(Text, { name: "Python", text: code.value.python }),
      /* @__PURE__ */ a4(Text, { name: "Command line", text: code.value.cli }),
      /* @__PURE__ */ a4(Text, { name: "Address", text: link })
    ] }),
    plan.value && /* @__PURE__ */ a4("details", { children: [
      /* @__PURE__ */ a4("summary", { children: "What reading it costs" }),
      /* @__PURE__ */ a4("pre", { tabIndex: 0, children: plan.value })
    ] }),
    /* @__PURE__ */ a4("p", { children: [
      /* @__PURE__ */ a4("button", { type: "button", onClick: () => void save(viewer, path, sel).catch((error) => viewer.report(error)), children: "Save as .npy" }),
      " ",
      /* @__PURE__ */ a4("button", { type: "button", onClick: () => viewer.region.value = null, children: "Remove region" })
    ] })
  ] });
}
function Text({ name, text }) {
  const copied = useSignal(false);
  return /* @__PURE__ */ a4("div", { class: "code", children: [
    /* @__PURE__ */ a4("span", { class: "code-name", children: name }),
    /* @__PURE__ */ a4("button", { type: "button", "aria-label": `Copy ${name}`, onClick: async () => copied.value = await copy(text), children: copied.value ? "Copied" : "Copy" }),
    /* @__PURE__ */ a4("pre", { tabIndex: 0, "aria-label": name, children: text })
  ] });
}
async function save(viewer, path, sel) {
  const { body } = await viewer.api.octets("npy", { path, sel });
  offer(body, `${path.split("/").pop() || "array"}.npy`);
}

// node_modules/uplot/dist/uPlot.esm.js
var FEAT_TIME = true;
var pre = "u-";
var UPLOT = "uplot";
var ORI_HZ = pre + "hz";
var ORI_VT = pre + "vt";
var TITLE2 = pre + "title";
var WRAP = pre + "wrap";
var UNDER = pre + "under";
var OVER = pre + "over";
var AXIS = pre + "axis";
var OFF = pre + "off";
var SELECT = pre + "select";
var CURSOR_X = pre + "cursor-x";
var CURSOR_Y = pre + "cursor-y";
var CURSOR_PT = pre + "cursor-pt";
var LEGEND = pre + "legend";
var LEGEND_LIVE = pre + "live";
var LEGEND_INLINE = pre + "inline";
var LEGEND_SERIES = pre + "series";
var LEGEND_MARKER = pre + "marker";
var LEGEND_LABEL = pre + "label";
var LEGEND_VALUE = pre + "value";
var WIDTH = "width";
var HEIGHT2 = "height";
var TOP = "top";
var BOTTOM = "bottom";
var LEFT = "left";
var RIGHT = "right";
var hexBlack = "#000";
var transparent = hexBlack + "0";
var mousemove = "mousemove";
var mousedown = "mousedown";
var mouseup = "mouseup";
var mouseenter = "mouseenter";
var mouseleave = "mouseleave";
var dblclick = "dblclick";
var resize = "resize";
var scroll = "scroll";
var change = "change";
var dppxchange = "dppxchange";
var LEGEND_DISP = "--";
var domEnv = typeof window != "undefined";
var doc = domEnv ? document : null;
var win = domEnv ? window : null;
var nav = domEnv ? navigator : null;
var pxRatio;
var query;
function setPxRatio() {
  let _pxRatio = devicePixelRatio;
  if (pxRatio != _pxRatio) {
    pxRatio = _pxRatio;
    query && off(change, query, setPxRatio);
    query = matchMedia(`(min-resolution: ${pxRatio - 1e-3}dppx) and (max-resolution: ${pxRatio + 1e-3}dppx)`);
    on(change, query, setPxRatio);
    win.dispatchEvent(new CustomEvent(dppxchange));
  }
}
function addClass(el, c4) {
  if (c4 != null) {
    let cl = el.classList;
    !cl.contains(c4) && cl.add(c4);
  }
}
function remClass(el, c4) {
  let cl = el.classList;
  cl.contains(c4) && cl.remove(c4);
}
function setStylePx(el, name, value) {
  el.style[name] = value + "px";
}
function placeTag(tag, cls, targ, refEl) {
  let el = doc.createElement(tag);
  if (cls != null)
    addClass(el, cls);
  if (targ != null)
    targ.insertBefore(el, refEl);
  return el;
}
function placeDiv(cls, targ) {
  return placeTag("div", cls, targ);
}
var xformCache = /* @__PURE__ */ new WeakMap();
function elTrans(el, xPos, yPos, xMax, yMax) {
  let xform = "translate(" + xPos + "px," + yPos + "px)";
  let xformOld = xformCache.get(el);
  if (xform != xformOld) {
    el.style.transform = xform;
    xformCache.set(el, xform);
    if (xPos < 0 || yPos < 0 || xPos > xMax || yPos > yMax)
      addClass(el, OFF);
    else
      remClass(el, OFF);
  }
}
var colorCache = /* @__PURE__ */ new WeakMap();
function elColor(el, background, borderColor) {
  let newColor = background + borderColor;
  let oldColor = colorCache.get(el);
  if (newColor != oldColor) {
    colorCache.set(el, newColor);
    el.style.background = background;
    el.style.borderColor = borderColor;
  }
}
var sizeCache = /* @__PURE__ */ new WeakMap();
function elSize(el, newWid, newHgt, centered) {
  let newSize = newWid + "" + newHgt;
  let oldSize = sizeCache.get(el);
  if (newSize != oldSize) {
    sizeCache.set(el, newSize);
    el.style.height = newHgt + "px";
    el.style.width = newWid + "px";
    el.style.marginLeft = centered ? -newWid / 2 + "px" : 0;
    el.style.marginTop = centered ? -newHgt / 2 + "px" : 0;
  }
}
var evOpts = { passive: true };
var evOpts2 = { ...evOpts, capture: true };
function on(ev, el, cb, capt) {
  el.addEventListener(ev, cb, capt ? evOpts2 : evOpts);
}
function off(ev, el, cb, capt) {
  el.removeEventListener(ev, cb, evOpts);
}
domEnv && setPxRatio();
function closestIdx(num, arr, lo, hi) {
  let mid;
  lo = lo || 0;
  hi = hi || arr.length - 1;
  let bitwise = hi <= 2147483647;
  while (hi - lo > 1) {
    mid = bitwise ? lo + hi >> 1 : floor((lo + hi) / 2);
    if (arr[mid] < num)
      lo = mid;
    else
      hi = mid;
  }
  if (num - arr[lo] <= arr[hi] - num)
    return lo;
  return hi;
}
function makeIndexOfs(predicate) {
  let indexOfs = (data, _i0, _i1) => {
    let i0 = -1;
    let i1 = -1;
    for (let i4 = _i0; i4 <= _i1; i4++) {
      if (predicate(data[i4])) {
        i0 = i4;
        break;
      }
    }
    for (let i4 = _i1; i4 >= _i0; i4--) {
      if (predicate(data[i4])) {
        i1 = i4;
        break;
      }
    }
    return [i0, i1];
  };
  return indexOfs;
}
var notNullish = (v4) => v4 != null;
var isPositive = (v4) => v4 != null && v4 > 0;
var nonNullIdxs = makeIndexOfs(notNullish);
var positiveIdxs = makeIndexOfs(isPositive);
function getMinMax(data, _i0, _i1, sorted2 = 0, log = false) {
  let getEdgeIdxs = log ? positiveIdxs : nonNullIdxs;
  let predicate = log ? isPositive : notNullish;
  [_i0, _i1] = getEdgeIdxs(data, _i0, _i1);
  let _min = data[_i0];
  let _max = data[_i0];
  if (_i0 > -1) {
    if (sorted2 == 1) {
      _min = data[_i0];
      _max = data[_i1];
    } else if (sorted2 == -1) {
      _min = data[_i1];
      _max = data[_i0];
    } else {
      for (let i4 = _i0; i4 <= _i1; i4++) {
        let v4 = data[i4];
        if (predicate(v4)) {
          if (v4 < _min)
            _min = v4;
          else if (v4 > _max)
            _max = v4;
        }
      }
    }
  }
  return [_min ?? inf, _max ?? -inf];
}
function rangeLog(min2, max2, base, fullMags) {
  let minSign = sign(min2);
  let maxSign = sign(max2);
  if (min2 == max2) {
    if (minSign == -1) {
      min2 *= base;
      max2 /= base;
    } else {
      min2 /= base;
      max2 *= base;
    }
  }
  let logFn = base == 10 ? log10 : log2;
  let growMinAbs = minSign == 1 ? floor : ceil;
  let growMaxAbs = maxSign == 1 ? ceil : floor;
  let minExp = growMinAbs(logFn(abs(min2)));
  let maxExp = growMaxAbs(logFn(abs(max2)));
  let minIncr = pow(base, minExp);
  let maxIncr = pow(base, maxExp);
  if (base == 10) {
    if (minExp < 0)
      minIncr = roundDec(minIncr, -minExp);
    if (maxExp < 0)
      maxIncr = roundDec(maxIncr, -maxExp);
  }
  if (fullMags || base == 2) {
    min2 = minIncr * minSign;
    max2 = maxIncr * maxSign;
  } else {
    min2 = incrRoundDn(min2, minIncr);
    max2 = incrRoundUp(max2, maxIncr);
  }
  return [min2, max2];
}
function rangeAsinh(min2, max2, base, fullMags) {
  let minMax = rangeLog(min2, max2, base, fullMags);
  if (min2 == 0)
    minMax[0] = 0;
  if (max2 == 0)
    minMax[1] = 0;
  return minMax;
}
var rangePad = 0.1;
var autoRangePart = {
  mode: 3,
  pad: rangePad
};
var _eqRangePart = {
  pad: 0,
  soft: null,
  mode: 0
};
var _eqRange = {
  min: _eqRangePart,
  max: _eqRangePart
};
function rangeNum(_min, _max, mult, extra) {
  if (isObj(mult))
    return _rangeNum(_min, _max, mult);
  _eqRangePart.pad = mult;
  _eqRangePart.soft = extra ? 0 : null;
  _eqRangePart.mode = extra ? 3 : 0;
  return _rangeNum(_min, _max, _eqRange);
}
function ifNull(lh, rh) {
  return lh == null ? rh : lh;
}
function hasData(data, idx0, idx1) {
  idx0 = ifNull(idx0, 0);
  idx1 = ifNull(idx1, data.length - 1);
  while (idx0 <= idx1) {
    if (data[idx0] != null)
      return true;
    idx0++;
  }
  return false;
}
function _rangeNum(_min, _max, cfg) {
  let cmin = cfg.min;
  let cmax = cfg.max;
  let padMin = ifNull(cmin.pad, 0);
  let padMax = ifNull(cmax.pad, 0);
  let hardMin = ifNull(cmin.hard, -inf);
  let hardMax = ifNull(cmax.hard, inf);
  let softMin = ifNull(cmin.soft, inf);
  let softMax = ifNull(cmax.soft, -inf);
  let softMinMode = ifNull(cmin.mode, 0);
  let softMaxMode = ifNull(cmax.mode, 0);
  let delta = _max - _min;
  let deltaMag = log10(delta);
  let scalarMax = max(abs(_min), abs(_max));
  let scalarMag = log10(scalarMax);
  let scalarMagDelta = abs(scalarMag - deltaMag);
  if (delta < 1e-24 || scalarMagDelta > 10) {
    delta = 0;
    if (_min == 0 || _max == 0) {
      delta = 1e-24;
      if (softMinMode == 2 && softMin != inf)
        padMin = 0;
      if (softMaxMode == 2 && softMax != -inf)
        padMax = 0;
    }
  }
  let nonZeroDelta = delta || scalarMax || 1e3;
  let mag = log10(nonZeroDelta);
  let base = pow(10, floor(mag));
  let _padMin = nonZeroDelta * (delta == 0 ? _min == 0 ? 0.1 : 1 : padMin);
  let _newMin = roundDec(incrRoundDn(_min - _padMin, base / 10), 24);
  let _softMin = _min >= softMin && (softMinMode == 1 || softMinMode == 3 && _newMin <= softMin || softMinMode == 2 && _newMin >= softMin) ? softMin : inf;
  let minLim = max(hardMin, _newMin < _softMin && _min >= _softMin ? _softMin : min(_softMin, _newMin));
  let _padMax = nonZeroDelta * (delta == 0 ? _max == 0 ? 0.1 : 1 : padMax);
  let _newMax = roundDec(incrRoundUp(_max + _padMax, base / 10), 24);
  let _softMax = _max <= softMax && (softMaxMode == 1 || softMaxMode == 3 && _newMax >= softMax || softMaxMode == 2 && _newMax <= softMax) ? softMax : -inf;
  let maxLim = min(hardMax, _newMax > _softMax && _max <= _softMax ? _softMax : max(_softMax, _newMax));
  if (minLim == maxLim && minLim == 0)
    maxLim = 100;
  return [minLim, maxLim];
}
var numFormatter = new Intl.NumberFormat(domEnv ? nav.language : "en-US");
var fmtNum = (val) => numFormatter.format(val);
var M2 = Math;
var PI = M2.PI;
var abs = M2.abs;
var floor = M2.floor;
var round = M2.round;
var ceil = M2.ceil;
var min = M2.min;
var max = M2.max;
var pow = M2.pow;
var sign = M2.sign;
var log10 = M2.log10;
var log2 = M2.log2;
var sinh = (v4, linthresh = 1) => M2.sinh(v4) * linthresh;
var asinh = (v4, linthresh = 1) => M2.asinh(v4 / linthresh);
var inf = Infinity;
function numIntDigits(x3) {
  return (log10((x3 ^ x3 >> 31) - (x3 >> 31)) | 0) + 1;
}
function clamp(num, _min, _max) {
  return min(max(num, _min), _max);
}
function isFn(v4) {
  return typeof v4 == "function";
}
function fnOrSelf(v4) {
  return isFn(v4) ? v4 : () => v4;
}
var noop = () => {
};
var retArg0 = (_0) => _0;
var retArg1 = (_0, _1) => _1;
var retNull = (_4) => null;
var retTrue = (_4) => true;
var retEq = (a5, b3) => a5 == b3;
var regex6 = /\.\d*?(?=9{6,}|0{6,})/gm;
var fixFloat = (val) => {
  if (isInt(val) || fixedDec.has(val))
    return val;
  const str = `${val}`;
  const match = str.match(regex6);
  if (match == null)
    return val;
  let len = match[0].length - 1;
  if (str.indexOf("e-") != -1) {
    let [num, exp] = str.split("e");
    return +`${fixFloat(num)}e${exp}`;
  }
  return roundDec(val, len);
};
function incrRound(num, incr) {
  return fixFloat(roundDec(fixFloat(num / incr)) * incr);
}
function incrRoundUp(num, incr) {
  return fixFloat(ceil(fixFloat(num / incr)) * incr);
}
function incrRoundDn(num, incr) {
  return fixFloat(floor(fixFloat(num / incr)) * incr);
}
function roundDec(val, dec = 0) {
  if (isInt(val))
    return val;
  let p5 = 10 ** dec;
  let n3 = val * p5 * (1 + Number.EPSILON);
  return round(n3) / p5;
}
var fixedDec = /* @__PURE__ */ new Map();
function guessDec(num) {
  return (("" + num).split(".")[1] || "").length;
}
function genIncrs(base, minExp, maxExp, mults) {
  let incrs = [];
  let multDec = mults.map(guessDec);
  for (let exp = minExp; exp < maxExp; exp++) {
    let expa = abs(exp);
    let mag = roundDec(pow(base, exp), expa);
    for (let i4 = 0; i4 < mults.length; i4++) {
      let _incr = base == 10 ? +`${mults[i4]}e${exp}` : mults[i4] * mag;
      let dec = (exp >= 0 ? 0 : expa) + (exp >= multDec[i4] ? 0 : multDec[i4]);
      let incr = base == 10 ? _incr : roundDec(_incr, dec);
      incrs.push(incr);
      fixedDec.set(incr, dec);
    }
  }
  return incrs;
}
var EMPTY_OBJ = {};
var EMPTY_ARR = [];
var nullNullTuple = [null, null];
var isArr = Array.isArray;
var isInt = Number.isInteger;
var isUndef = (v4) => v4 === void 0;
function isStr(v4) {
  return typeof v4 == "string";
}
function isObj(v4) {
  let is = false;
  if (v4 != null) {
    let c4 = v4.constructor;
    is = c4 == null || c4 == Object;
  }
  return is;
}
function fastIsObj(v4) {
  return v4 != null && typeof v4 == "object";
}
var TypedArray = Object.getPrototypeOf(Uint8Array);
var __proto__ = "__proto__";
function copy2(o5, _isObj = isObj) {
  let out;
  if (isArr(o5)) {
    let val = o5.find((v4) => v4 != null);
    if (isArr(val) || _isObj(val)) {
      out = Array(o5.length);
      for (let i4 = 0; i4 < o5.length; i4++)
        out[i4] = copy2(o5[i4], _isObj);
    } else
      out = o5.slice();
  } else if (o5 instanceof TypedArray)
    out = o5.slice();
  else if (_isObj(o5)) {
    out = {};
    for (let k4 in o5) {
      if (k4 != __proto__)
        out[k4] = copy2(o5[k4], _isObj);
    }
  } else
    out = o5;
  return out;
}
function assign(targ) {
  let args = arguments;
  for (let i4 = 1; i4 < args.length; i4++) {
    let src = args[i4];
    for (let key in src) {
      if (key != __proto__) {
        if (isObj(targ[key]))
          assign(targ[key], copy2(src[key]));
        else
          targ[key] = copy2(src[key]);
      }
    }
  }
  return targ;
}
var NULL_REMOVE = 0;
var NULL_RETAIN = 1;
var NULL_EXPAND = 2;
function nullExpand(yVals, nullIdxs, alignedLen) {
  for (let i4 = 0, xi, lastNullIdx = -1; i4 < nullIdxs.length; i4++) {
    let nullIdx = nullIdxs[i4];
    if (nullIdx > lastNullIdx) {
      xi = nullIdx - 1;
      while (xi >= 0 && yVals[xi] == null)
        yVals[xi--] = null;
      xi = nullIdx + 1;
      while (xi < alignedLen && yVals[xi] == null)
        yVals[lastNullIdx = xi++] = null;
    }
  }
}
function join(tables2, nullModes) {
  if (allHeadersSame(tables2)) {
    let table = tables2[0].slice();
    for (let i4 = 1; i4 < tables2.length; i4++)
      table.push(...tables2[i4].slice(1));
    if (!isAsc(table[0]))
      table = sortCols(table);
    return table;
  }
  let xVals = /* @__PURE__ */ new Set();
  for (let ti = 0; ti < tables2.length; ti++) {
    let t4 = tables2[ti];
    let xs = t4[0];
    let len = xs.length;
    for (let i4 = 0; i4 < len; i4++)
      xVals.add(xs[i4]);
  }
  let data = [Array.from(xVals).sort((a5, b3) => a5 - b3)];
  let alignedLen = data[0].length;
  let xIdxs = /* @__PURE__ */ new Map();
  for (let i4 = 0; i4 < alignedLen; i4++)
    xIdxs.set(data[0][i4], i4);
  for (let ti = 0; ti < tables2.length; ti++) {
    let t4 = tables2[ti];
    let xs = t4[0];
    for (let si = 1; si < t4.length; si++) {
      let ys = t4[si];
      let yVals = Array(alignedLen).fill(void 0);
      let nullMode = nullModes ? nullModes[ti][si] : NULL_RETAIN;
      let nullIdxs = [];
      for (let i4 = 0; i4 < ys.length; i4++) {
        let yVal = ys[i4];
        let alignedIdx = xIdxs.get(xs[i4]);
        if (yVal === null) {
          if (nullMode != NULL_REMOVE) {
            yVals[alignedIdx] = yVal;
            if (nullMode == NULL_EXPAND)
              nullIdxs.push(alignedIdx);
          }
        } else
          yVals[alignedIdx] = yVal;
      }
      nullExpand(yVals, nullIdxs, alignedLen);
      data.push(yVals);
    }
  }
  return data;
}
var microTask = typeof queueMicrotask == "undefined" ? (fn) => Promise.resolve().then(fn) : queueMicrotask;
function sortCols(table) {
  let head = table[0];
  let rlen = head.length;
  let idxs = Array(rlen);
  for (let i4 = 0; i4 < idxs.length; i4++)
    idxs[i4] = i4;
  idxs.sort((i0, i1) => head[i0] - head[i1]);
  let table2 = [];
  for (let i4 = 0; i4 < table.length; i4++) {
    let row = table[i4];
    let row2 = Array(rlen);
    for (let j3 = 0; j3 < rlen; j3++)
      row2[j3] = row[idxs[j3]];
    table2.push(row2);
  }
  return table2;
}
function allHeadersSame(tables2) {
  let vals0 = tables2[0][0];
  let len0 = vals0.length;
  for (let i4 = 1; i4 < tables2.length; i4++) {
    let vals1 = tables2[i4][0];
    if (vals1.length != len0)
      return false;
    if (vals1 != vals0) {
      for (let j3 = 0; j3 < len0; j3++) {
        if (vals1[j3] != vals0[j3])
          return false;
      }
    }
  }
  return true;
}
function isAsc(vals, samples = 100) {
  const len = vals.length;
  if (len <= 1)
    return true;
  let firstIdx = 0;
  let lastIdx = len - 1;
  while (firstIdx <= lastIdx && vals[firstIdx] == null)
    firstIdx++;
  while (lastIdx >= firstIdx && vals[lastIdx] == null)
    lastIdx--;
  if (lastIdx <= firstIdx)
    return true;
  const stride = max(1, floor((lastIdx - firstIdx + 1) / samples));
  for (let prevVal = vals[firstIdx], i4 = firstIdx + stride; i4 <= lastIdx; i4 += stride) {
    const v4 = vals[i4];
    if (v4 != null) {
      if (v4 <= prevVal)
        return false;
      prevVal = v4;
    }
  }
  return true;
}
var months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December"
];
var days = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday"
];
function slice3(str) {
  return str.slice(0, 3);
}
var days3 = days.map(slice3);
var months3 = months.map(slice3);
var engNames = {
  MMMM: months,
  MMM: months3,
  WWWW: days,
  WWW: days3
};
function zeroPad2(int) {
  return (int < 10 ? "0" : "") + int;
}
function zeroPad3(int) {
  return (int < 10 ? "00" : int < 100 ? "0" : "") + int;
}
var subs = {
  // 2019
  YYYY: (d4) => d4.getFullYear(),
  // 19
  YY: (d4) => (d4.getFullYear() + "").slice(2),
  // July
  MMMM: (d4, names) => names.MMMM[d4.getMonth()],
  // Jul
  MMM: (d4, names) => names.MMM[d4.getMonth()],
  // 07
  MM: (d4) => zeroPad2(d4.getMonth() + 1),
  // 7
  M: (d4) => d4.getMonth() + 1,
  // 09
  DD: (d4) => zeroPad2(d4.getDate()),
  // 9
  D: (d4) => d4.getDate(),
  // Monday
  WWWW: (d4, names) => names.WWWW[d4.getDay()],
  // Mon
  WWW: (d4, names) => names.WWW[d4.getDay()],
  // 03
  HH: (d4) => zeroPad2(d4.getHours()),
  // 3
  H: (d4) => d4.getHours(),
  // 9 (12hr, unpadded)
  h: (d4) => {
    let h5 = d4.getHours();
    return h5 == 0 ? 12 : h5 > 12 ? h5 - 12 : h5;
  },
  // AM
  AA: (d4) => d4.getHours() >= 12 ? "PM" : "AM",
  // am
  aa: (d4) => d4.getHours() >= 12 ? "pm" : "am",
  // a
  a: (d4) => d4.getHours() >= 12 ? "p" : "a",
  // 09
  mm: (d4) => zeroPad2(d4.getMinutes()),
  // 9
  m: (d4) => d4.getMinutes(),
  // 09
  ss: (d4) => zeroPad2(d4.getSeconds()),
  // 9
  s: (d4) => d4.getSeconds(),
  // 374
  fff: (d4) => zeroPad3(d4.getMilliseconds())
};
function fmtDate(tpl, names) {
  names = names || engNames;
  let parts = [];
  let R = /\{([a-z]+)\}|[^{]+/gi, m5;
  while (m5 = R.exec(tpl))
    parts.push(m5[0][0] == "{" ? subs[m5[1]] : m5[0]);
  return (d4) => {
    let out = "";
    for (let i4 = 0; i4 < parts.length; i4++)
      out += typeof parts[i4] == "string" ? parts[i4] : parts[i4](d4, names);
    return out;
  };
}
var localTz = new Intl.DateTimeFormat().resolvedOptions().timeZone;
function tzDate(date, tz) {
  let date2;
  if (tz == "UTC" || tz == "Etc/UTC")
    date2 = new Date(+date + date.getTimezoneOffset() * 6e4);
  else if (tz == localTz)
    date2 = date;
  else {
    date2 = new Date(date.toLocaleString("en-US", { timeZone: tz }));
    date2.setMilliseconds(date.getMilliseconds());
  }
  return date2;
}
var onlyWhole = (v4) => v4 % 1 == 0;
var allMults = [1, 2, 2.5, 5];
var decIncrs = genIncrs(10, -32, 0, allMults);
var oneIncrs = genIncrs(10, 0, 32, allMults);
var wholeIncrs = oneIncrs.filter(onlyWhole);
var numIncrs = decIncrs.concat(oneIncrs);
var NL = "\n";
var yyyy = "{YYYY}";
var NLyyyy = NL + yyyy;
var md = "{M}/{D}";
var NLmd = NL + md;
var NLmdyy = NLmd + "/{YY}";
var aa = "{aa}";
var hmm = "{h}:{mm}";
var hmmaa = hmm + aa;
var NLhmmaa = NL + hmmaa;
var ss = ":{ss}";
var _3 = null;
function genTimeStuffs(ms) {
  let s4 = ms * 1e3, m5 = s4 * 60, h5 = m5 * 60, d4 = h5 * 24, mo = d4 * 30, y5 = d4 * 365;
  let subSecIncrs = ms == 1 ? genIncrs(10, 0, 3, allMults).filter(onlyWhole) : genIncrs(10, -3, 0, allMults);
  let timeIncrs = subSecIncrs.concat([
    // minute divisors (# of secs)
    s4,
    s4 * 5,
    s4 * 10,
    s4 * 15,
    s4 * 30,
    // hour divisors (# of mins)
    m5,
    m5 * 5,
    m5 * 10,
    m5 * 15,
    m5 * 30,
    // day divisors (# of hrs)
    h5,
    h5 * 2,
    h5 * 3,
    h5 * 4,
    h5 * 6,
    h5 * 8,
    h5 * 12,
    // month divisors TODO: need more?
    d4,
    d4 * 2,
    d4 * 3,
    d4 * 4,
    d4 * 5,
    d4 * 6,
    d4 * 7,
    d4 * 8,
    d4 * 9,
    d4 * 10,
    d4 * 15,
    // year divisors (# months, approx)
    mo,
    mo * 2,
    mo * 3,
    mo * 4,
    mo * 6,
    // century divisors
    y5,
    y5 * 2,
    y5 * 5,
    y5 * 10,
    y5 * 25,
    y5 * 50,
    y5 * 100
  ]);
  const _timeAxisStamps = [
    //   tick incr    default          year                    month   day                   hour    min       sec   mode
    [y5, yyyy, _3, _3, _3, _3, _3, _3, 1],
    [d4 * 28, "{MMM}", NLyyyy, _3, _3, _3, _3, _3, 1],
    [d4, md, NLyyyy, _3, _3, _3, _3, _3, 1],
    [h5, "{h}" + aa, NLmdyy, _3, NLmd, _3, _3, _3, 1],
    [m5, hmmaa, NLmdyy, _3, NLmd, _3, _3, _3, 1],
    [s4, ss, NLmdyy + " " + hmmaa, _3, NLmd + " " + hmmaa, _3, NLhmmaa, _3, 1],
    [ms, ss + ".{fff}", NLmdyy + " " + hmmaa, _3, NLmd + " " + hmmaa, _3, NLhmmaa, _3, 1]
  ];
  function timeAxisSplits(tzDate2) {
    return (self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace) => {
      let splits = [];
      let isYr = foundIncr >= y5;
      let isMo = foundIncr >= mo && foundIncr < y5;
      let minDate = tzDate2(scaleMin);
      let minDateTs = roundDec(minDate * ms, 3);
      let minMin = mkDate(minDate.getFullYear(), isYr ? 0 : minDate.getMonth(), isMo || isYr ? 1 : minDate.getDate());
      let minMinTs = roundDec(minMin * ms, 3);
      if (isMo || isYr) {
        let moIncr = isMo ? foundIncr / mo : 0;
        let yrIncr = isYr ? foundIncr / y5 : 0;
        let split = minDateTs == minMinTs ? minDateTs : roundDec(mkDate(minMin.getFullYear() + yrIncr, minMin.getMonth() + moIncr, 1) * ms, 3);
        let splitDate = new Date(round(split / ms));
        let baseYear = splitDate.getFullYear();
        let baseMonth = splitDate.getMonth();
        for (let i4 = 0; split <= scaleMax; i4++) {
          let next = mkDate(baseYear + yrIncr * i4, baseMonth + moIncr * i4, 1);
          let offs = next - tzDate2(roundDec(next * ms, 3));
          split = roundDec((+next + offs) * ms, 3);
          if (split <= scaleMax)
            splits.push(split);
        }
      } else {
        let incr0 = foundIncr >= d4 ? d4 : foundIncr;
        let tzOffset = floor(scaleMin) - floor(minDateTs);
        let split = minMinTs + tzOffset + incrRoundUp(minDateTs - minMinTs, incr0);
        splits.push(split);
        let date0 = tzDate2(split);
        let prevHour = date0.getHours() + date0.getMinutes() / m5 + date0.getSeconds() / h5;
        let incrHours = foundIncr / h5;
        let minSpace = self.axes[axisIdx]._space;
        let pctSpace = foundSpace / minSpace;
        while (1) {
          split = roundDec(split + foundIncr, ms == 1 ? 0 : 3);
          if (split > scaleMax)
            break;
          if (incrHours > 1) {
            let expectedHour = floor(roundDec(prevHour + incrHours, 6)) % 24;
            let splitDate = tzDate2(split);
            let actualHour = splitDate.getHours();
            let dstShift = actualHour - expectedHour;
            if (dstShift > 1)
              dstShift = -1;
            split -= dstShift * h5;
            prevHour = (prevHour + incrHours) % 24;
            let prevSplit = splits[splits.length - 1];
            let pctIncr = roundDec((split - prevSplit) / foundIncr, 3);
            if (pctIncr * pctSpace >= 0.7)
              splits.push(split);
          } else
            splits.push(split);
        }
      }
      return splits;
    };
  }
  return [
    timeIncrs,
    _timeAxisStamps,
    timeAxisSplits
  ];
}
var [timeIncrsMs, _timeAxisStampsMs, timeAxisSplitsMs] = genTimeStuffs(1);
var [timeIncrsS, _timeAxisStampsS, timeAxisSplitsS] = genTimeStuffs(1e-3);
genIncrs(2, -53, 53, [1]);
function timeAxisStamps(stampCfg, fmtDate2) {
  return stampCfg.map((s4) => s4.map(
    (v4, i4) => i4 == 0 || i4 == 8 || v4 == null ? v4 : fmtDate2(i4 == 1 || s4[8] == 0 ? v4 : s4[1] + v4)
  ));
}
function timeAxisVals(tzDate2, stamps) {
  return (self, splits, axisIdx, foundSpace, foundIncr) => {
    let s4 = stamps.find((s5) => foundIncr >= s5[0]) || stamps[stamps.length - 1];
    let prevYear;
    let prevMnth;
    let prevDate;
    let prevHour;
    let prevMins;
    let prevSecs;
    return splits.map((split) => {
      let date = tzDate2(split);
      let newYear = date.getFullYear();
      let newMnth = date.getMonth();
      let newDate = date.getDate();
      let newHour = date.getHours();
      let newMins = date.getMinutes();
      let newSecs = date.getSeconds();
      let stamp = newYear != prevYear && s4[2] || newMnth != prevMnth && s4[3] || newDate != prevDate && s4[4] || newHour != prevHour && s4[5] || newMins != prevMins && s4[6] || newSecs != prevSecs && s4[7] || s4[1];
      prevYear = newYear;
      prevMnth = newMnth;
      prevDate = newDate;
      prevHour = newHour;
      prevMins = newMins;
      prevSecs = newSecs;
      return stamp(date);
    });
  };
}
function timeAxisVal(tzDate2, dateTpl) {
  let stamp = fmtDate(dateTpl);
  return (self, splits, axisIdx, foundSpace, foundIncr) => splits.map((split) => stamp(tzDate2(split)));
}
function mkDate(y5, m5, d4) {
  return new Date(y5, m5, d4);
}
function timeSeriesStamp(stampCfg, fmtDate2) {
  return fmtDate2(stampCfg);
}
var _timeSeriesStamp = "{YYYY}-{MM}-{DD} {h}:{mm}{aa}";
function timeSeriesVal(tzDate2, stamp) {
  return (self, val, seriesIdx, dataIdx) => dataIdx == null ? LEGEND_DISP : stamp(tzDate2(val));
}
function legendStroke(self, seriesIdx) {
  let s4 = self.series[seriesIdx];
  return s4.width ? s4.stroke(self, seriesIdx) : s4.points.width ? s4.points.stroke(self, seriesIdx) : null;
}
function legendFill(self, seriesIdx) {
  return self.series[seriesIdx].fill(self, seriesIdx);
}
var legendOpts = {
  show: true,
  live: true,
  isolate: false,
  mount: noop,
  markers: {
    show: true,
    width: 2,
    stroke: legendStroke,
    fill: legendFill,
    dash: "solid"
  },
  idx: null,
  idxs: null,
  values: []
};
function cursorPointShow(self, si) {
  let o5 = self.cursor.points;
  let pt = placeDiv();
  let size = o5.size(self, si);
  setStylePx(pt, WIDTH, size);
  setStylePx(pt, HEIGHT2, size);
  let mar = size / -2;
  setStylePx(pt, "marginLeft", mar);
  setStylePx(pt, "marginTop", mar);
  let width = o5.width(self, si, size);
  width && setStylePx(pt, "borderWidth", width);
  return pt;
}
function cursorPointFill(self, si) {
  let sp = self.series[si].points;
  return sp._fill || sp._stroke;
}
function cursorPointStroke(self, si) {
  let sp = self.series[si].points;
  return sp._stroke || sp._fill;
}
function cursorPointSize(self, si) {
  let sp = self.series[si].points;
  return sp.size;
}
var moveTuple = [0, 0];
function cursorMove(self, mouseLeft1, mouseTop1) {
  moveTuple[0] = mouseLeft1;
  moveTuple[1] = mouseTop1;
  return moveTuple;
}
function filtBtn0(self, targ, handle, onlyTarg = true) {
  return (e4) => {
    e4.button == 0 && (!onlyTarg || e4.target == targ) && handle(e4);
  };
}
function filtTarg(self, targ, handle, onlyTarg = true) {
  return (e4) => {
    (!onlyTarg || e4.target == targ) && handle(e4);
  };
}
var cursorOpts = {
  show: true,
  x: true,
  y: true,
  lock: false,
  move: cursorMove,
  points: {
    one: false,
    show: cursorPointShow,
    size: cursorPointSize,
    width: 0,
    stroke: cursorPointStroke,
    fill: cursorPointFill
  },
  bind: {
    mousedown: filtBtn0,
    mouseup: filtBtn0,
    click: filtBtn0,
    // legend clicks, not .u-over clicks
    dblclick: filtBtn0,
    mousemove: filtTarg,
    mouseleave: filtTarg,
    mouseenter: filtTarg
  },
  drag: {
    setScale: true,
    x: true,
    y: false,
    dist: 0,
    uni: null,
    click: (self, e4) => {
      e4.stopPropagation();
      e4.stopImmediatePropagation();
    },
    _x: false,
    _y: false
  },
  focus: {
    dist: (self, seriesIdx, dataIdx, valPos, curPos) => valPos - curPos,
    prox: -1,
    bias: 0
  },
  hover: {
    skip: [void 0],
    prox: null,
    bias: 0
  },
  left: -10,
  top: -10,
  idx: null,
  dataIdx: null,
  idxs: null,
  event: null
};
var axisLines = {
  show: true,
  stroke: "rgba(0,0,0,0.07)",
  width: 2
  //	dash: [],
};
var grid = assign({}, axisLines, {
  filter: retArg1
});
var ticks = assign({}, grid, {
  size: 10
});
var border = assign({}, axisLines, {
  show: false
});
var font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Emoji"';
var labelFont = "bold " + font;
var lineGap = 1.5;
var xAxisOpts = {
  show: true,
  scale: "x",
  stroke: hexBlack,
  space: 50,
  gap: 5,
  alignTo: 1,
  size: 50,
  labelGap: 0,
  labelSize: 30,
  labelFont,
  side: 2,
  //	class: "x-vals",
  //	incrs: timeIncrs,
  //	values: timeVals,
  //	filter: retArg1,
  grid,
  ticks,
  border,
  font,
  lineGap,
  rotate: 0
};
var numSeriesLabel = "Value";
var timeSeriesLabel = "Time";
var xSeriesOpts = {
  show: true,
  scale: "x",
  auto: false,
  sorted: 1,
  //	label: "Time",
  //	value: v => stamp(new Date(v * 1e3)),
  // internal caches
  min: inf,
  max: -inf,
  idxs: []
};
function numAxisVals(self, splits, axisIdx, foundSpace, foundIncr) {
  return splits.map((v4) => v4 == null ? "" : fmtNum(v4));
}
function numAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
  let splits = [];
  let numDec = fixedDec.get(foundIncr) || 0;
  scaleMin = forceMin ? scaleMin : roundDec(incrRoundUp(scaleMin, foundIncr), numDec);
  for (let val = scaleMin; val <= scaleMax; val = roundDec(val + foundIncr, numDec))
    splits.push(Object.is(val, -0) ? 0 : val);
  return splits;
}
function logAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
  const splits = [];
  const logBase = self.scales[self.axes[axisIdx].scale].log;
  const logFn = logBase == 10 ? log10 : log2;
  const exp = floor(logFn(scaleMin));
  foundIncr = pow(logBase, exp);
  if (logBase == 10)
    foundIncr = numIncrs[closestIdx(foundIncr, numIncrs)];
  let split = scaleMin;
  let nextMagIncr = foundIncr * logBase;
  if (logBase == 10)
    nextMagIncr = numIncrs[closestIdx(nextMagIncr, numIncrs)];
  do {
    splits.push(split);
    split = split + foundIncr;
    if (logBase == 10 && !fixedDec.has(split))
      split = roundDec(split, fixedDec.get(foundIncr));
    if (split >= nextMagIncr) {
      foundIncr = split;
      nextMagIncr = foundIncr * logBase;
      if (logBase == 10)
        nextMagIncr = numIncrs[closestIdx(nextMagIncr, numIncrs)];
    }
  } while (split <= scaleMax);
  return splits;
}
function asinhAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
  let sc = self.scales[self.axes[axisIdx].scale];
  let linthresh = sc.asinh;
  let posSplits = scaleMax > linthresh ? logAxisSplits(self, axisIdx, max(linthresh, scaleMin), scaleMax, foundIncr) : [linthresh];
  let zero = scaleMax >= 0 && scaleMin <= 0 ? [0] : [];
  let negSplits = scaleMin < -linthresh ? logAxisSplits(self, axisIdx, max(linthresh, -scaleMax), -scaleMin, foundIncr) : [linthresh];
  return negSplits.reverse().map((v4) => -v4).concat(zero, posSplits);
}
var RE_ALL = /./;
var RE_12357 = /[12357]/;
var RE_125 = /[125]/;
var RE_1 = /1/;
var _filt = (splits, distr, re, keepMod) => splits.map((v4, i4) => distr == 4 && v4 == 0 || i4 % keepMod == 0 && re.test(v4.toExponential()[v4 < 0 ? 1 : 0]) ? v4 : null);
function log10AxisValsFilt(self, splits, axisIdx, foundSpace, foundIncr) {
  let axis = self.axes[axisIdx];
  let scaleKey = axis.scale;
  let sc = self.scales[scaleKey];
  let valToPos = self.valToPos;
  let minSpace = axis._space;
  let _10 = valToPos(10, scaleKey);
  let re = valToPos(9, scaleKey) - _10 >= minSpace ? RE_ALL : valToPos(7, scaleKey) - _10 >= minSpace ? RE_12357 : valToPos(5, scaleKey) - _10 >= minSpace ? RE_125 : RE_1;
  if (re == RE_1) {
    let magSpace = abs(valToPos(1, scaleKey) - _10);
    if (magSpace < minSpace)
      return _filt(splits.slice().reverse(), sc.distr, re, ceil(minSpace / magSpace)).reverse();
  }
  return _filt(splits, sc.distr, re, 1);
}
function log2AxisValsFilt(self, splits, axisIdx, foundSpace, foundIncr) {
  let axis = self.axes[axisIdx];
  let scaleKey = axis.scale;
  let minSpace = axis._space;
  let valToPos = self.valToPos;
  let magSpace = abs(valToPos(1, scaleKey) - valToPos(2, scaleKey));
  if (magSpace < minSpace)
    return _filt(splits.slice().reverse(), 3, RE_ALL, ceil(minSpace / magSpace)).reverse();
  return splits;
}
function numSeriesVal(self, val, seriesIdx, dataIdx) {
  return dataIdx == null ? LEGEND_DISP : val == null ? "" : fmtNum(val);
}
var yAxisOpts = {
  show: true,
  scale: "y",
  stroke: hexBlack,
  space: 30,
  gap: 5,
  alignTo: 1,
  size: 50,
  labelGap: 0,
  labelSize: 30,
  labelFont,
  side: 3,
  //	class: "y-vals",
  //	incrs: numIncrs,
  //	values: (vals, space) => vals,
  //	filter: retArg1,
  grid,
  ticks,
  border,
  font,
  lineGap,
  rotate: 0
};
function ptDia(width, mult) {
  let dia = 3 + (width || 1) * 2;
  return roundDec(dia * mult, 3);
}
function seriesPointsShow(self, si) {
  let { scale, idxs } = self.series[0];
  let xData = self._data[0];
  let p0 = self.valToPos(xData[idxs[0]], scale, true);
  let p1 = self.valToPos(xData[idxs[1]], scale, true);
  let dim = abs(p1 - p0);
  let s4 = self.series[si];
  let maxPts = dim / (s4.points.space * pxRatio);
  return idxs[1] - idxs[0] <= maxPts;
}
var facet = {
  scale: null,
  auto: true,
  sorted: 0,
  // internal caches
  min: inf,
  max: -inf
};
var gaps = (self, seriesIdx, idx0, idx1, nullGaps) => nullGaps;
var xySeriesOpts = {
  show: true,
  auto: true,
  sorted: 0,
  gaps,
  alpha: 1,
  facets: [
    assign({}, facet, { scale: "x" }),
    assign({}, facet, { scale: "y" })
  ]
};
var ySeriesOpts = {
  scale: "y",
  auto: true,
  sorted: 0,
  show: true,
  spanGaps: false,
  gaps,
  alpha: 1,
  points: {
    show: seriesPointsShow,
    filter: null
    //  paths:
    //	stroke: "#000",
    //	fill: "#fff",
    //	width: 1,
    //	size: 10,
  },
  //	label: "Value",
  //	value: v => v,
  values: null,
  // internal caches
  min: inf,
  max: -inf,
  idxs: [],
  path: null,
  clip: null
};
function clampScale(self, val, scaleMin, scaleMax, scaleKey) {
  return scaleMin / 10;
}
var xScaleOpts = {
  time: FEAT_TIME,
  auto: true,
  distr: 1,
  log: 10,
  asinh: 1,
  min: null,
  max: null,
  dir: 1,
  ori: 0
};
var yScaleOpts = assign({}, xScaleOpts, {
  time: false,
  ori: 1
});
var syncs = {};
function _sync(key, opts) {
  let s4 = syncs[key];
  if (!s4) {
    s4 = {
      key,
      plots: [],
      sub(plot) {
        s4.plots.push(plot);
      },
      unsub(plot) {
        s4.plots = s4.plots.filter((c4) => c4 != plot);
      },
      pub(type, self, x3, y5, w5, h5, i4) {
        for (let j3 = 0; j3 < s4.plots.length; j3++)
          s4.plots[j3] != self && s4.plots[j3].pub(type, self, x3, y5, w5, h5, i4);
      }
    };
    if (key != null)
      syncs[key] = s4;
  }
  return s4;
}
var BAND_CLIP_FILL = 1 << 0;
var BAND_CLIP_STROKE = 1 << 1;
function orient(u4, seriesIdx, cb) {
  const mode = u4.mode;
  const series = u4.series[seriesIdx];
  const data = mode == 2 ? u4._data[seriesIdx] : u4._data;
  const scales = u4.scales;
  const bbox = u4.bbox;
  let dx = data[0], dy = mode == 2 ? data[1] : data[seriesIdx], sx = mode == 2 ? scales[series.facets[0].scale] : scales[u4.series[0].scale], sy = mode == 2 ? scales[series.facets[1].scale] : scales[series.scale], l4 = bbox.left, t4 = bbox.top, w5 = bbox.width, h5 = bbox.height, H2 = u4.valToPosH, V2 = u4.valToPosV;
  return sx.ori == 0 ? cb(
    series,
    dx,
    dy,
    sx,
    sy,
    H2,
    V2,
    l4,
    t4,
    w5,
    h5,
    moveToH,
    lineToH,
    rectH,
    arcH,
    bezierCurveToH
  ) : cb(
    series,
    dx,
    dy,
    sx,
    sy,
    V2,
    H2,
    t4,
    l4,
    h5,
    w5,
    moveToV,
    lineToV,
    rectV,
    arcV,
    bezierCurveToV
  );
}
function bandFillClipDirs(self, seriesIdx) {
  let fillDir = 0;
  let clipDirs = 0;
  let bands = ifNull(self.bands, EMPTY_ARR);
  for (let i4 = 0; i4 < bands.length; i4++) {
    let b3 = bands[i4];
    if (b3.series[0] == seriesIdx)
      fillDir = b3.dir;
    else if (b3.series[1] == seriesIdx) {
      if (b3.dir == 1)
        clipDirs |= 1;
      else
        clipDirs |= 2;
    }
  }
  return [
    fillDir,
    clipDirs == 1 ? -1 : (
      // neg only
      clipDirs == 2 ? 1 : (
        // pos only
        clipDirs == 3 ? 2 : (
          // both
          0
        )
      )
    )
  ];
}
function seriesFillTo(self, seriesIdx, dataMin, dataMax, bandFillDir) {
  let mode = self.mode;
  let series = self.series[seriesIdx];
  let scaleKey = mode == 2 ? series.facets[1].scale : series.scale;
  let scale = self.scales[scaleKey];
  return bandFillDir == -1 ? scale.min : bandFillDir == 1 ? scale.max : scale.distr == 3 ? scale.dir == 1 ? scale.min : scale.max : 0;
}
function clipBandLine(self, seriesIdx, idx0, idx1, strokePath, clipDir) {
  return orient(self, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
    let pxRound = series.pxRound;
    const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
    const lineTo = scaleX.ori == 0 ? lineToH : lineToV;
    let frIdx, toIdx;
    if (dir == 1) {
      frIdx = idx0;
      toIdx = idx1;
    } else {
      frIdx = idx1;
      toIdx = idx0;
    }
    let x0 = pxRound(valToPosX(dataX[frIdx], scaleX, xDim, xOff));
    let y0 = pxRound(valToPosY(dataY[frIdx], scaleY, yDim, yOff));
    let x1 = pxRound(valToPosX(dataX[toIdx], scaleX, xDim, xOff));
    let yLimit = pxRound(valToPosY(clipDir == 1 ? scaleY.max : scaleY.min, scaleY, yDim, yOff));
    let clip = new Path2D(strokePath);
    lineTo(clip, x1, yLimit);
    lineTo(clip, x0, yLimit);
    lineTo(clip, x0, y0);
    return clip;
  });
}
function clipGaps(gaps2, ori, plotLft, plotTop, plotWid, plotHgt) {
  let clip = null;
  if (gaps2.length > 0) {
    clip = new Path2D();
    const rect2 = ori == 0 ? rectH : rectV;
    let prevGapEnd = plotLft;
    for (let i4 = 0; i4 < gaps2.length; i4++) {
      let g5 = gaps2[i4];
      if (g5[1] > g5[0]) {
        let w6 = g5[0] - prevGapEnd;
        w6 > 0 && rect2(clip, prevGapEnd, plotTop, w6, plotTop + plotHgt);
        prevGapEnd = g5[1];
      }
    }
    let w5 = plotLft + plotWid - prevGapEnd;
    let maxStrokeWidth = 10;
    w5 > 0 && rect2(clip, prevGapEnd, plotTop - maxStrokeWidth / 2, w5, plotTop + plotHgt + maxStrokeWidth);
  }
  return clip;
}
function addGap(gaps2, fromX, toX) {
  let prevGap = gaps2[gaps2.length - 1];
  if (prevGap && prevGap[0] == fromX)
    prevGap[1] = toX;
  else
    gaps2.push([fromX, toX]);
}
function findGaps(xs, ys, idx0, idx1, dir, pixelForX, align) {
  let gaps2 = [];
  let len = xs.length;
  for (let i4 = dir == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += dir) {
    let yVal = ys[i4];
    if (yVal === null) {
      let fr = i4, to = i4;
      if (dir == 1) {
        while (++i4 <= idx1 && ys[i4] === null)
          to = i4;
      } else {
        while (--i4 >= idx0 && ys[i4] === null)
          to = i4;
      }
      let frPx = pixelForX(xs[fr]);
      let toPx = to == fr ? frPx : pixelForX(xs[to]);
      let fri2 = fr - dir;
      let frPx2 = align <= 0 && fri2 >= 0 && fri2 < len ? pixelForX(xs[fri2]) : frPx;
      frPx = frPx2;
      let toi2 = to + dir;
      let toPx2 = align >= 0 && toi2 >= 0 && toi2 < len ? pixelForX(xs[toi2]) : toPx;
      toPx = toPx2;
      if (toPx >= frPx)
        gaps2.push([frPx, toPx]);
    }
  }
  return gaps2;
}
function pxRoundGen(pxAlign) {
  return pxAlign == 0 ? retArg0 : pxAlign == 1 ? round : (v4) => incrRound(v4, pxAlign);
}
function rect(ori) {
  let moveTo = ori == 0 ? moveToH : moveToV;
  let arcTo = ori == 0 ? (p5, x1, y1, x22, y22, r4) => {
    p5.arcTo(x1, y1, x22, y22, r4);
  } : (p5, y1, x1, y22, x22, r4) => {
    p5.arcTo(x1, y1, x22, y22, r4);
  };
  let rect2 = ori == 0 ? (p5, x3, y5, w5, h5) => {
    p5.rect(x3, y5, w5, h5);
  } : (p5, y5, x3, h5, w5) => {
    p5.rect(x3, y5, w5, h5);
  };
  return (p5, x3, y5, w5, h5, endRad = 0, baseRad = 0) => {
    if (endRad == 0 && baseRad == 0)
      rect2(p5, x3, y5, w5, h5);
    else {
      endRad = min(endRad, w5 / 2, h5 / 2);
      baseRad = min(baseRad, w5 / 2, h5 / 2);
      moveTo(p5, x3 + endRad, y5);
      arcTo(p5, x3 + w5, y5, x3 + w5, y5 + h5, endRad);
      arcTo(p5, x3 + w5, y5 + h5, x3, y5 + h5, baseRad);
      arcTo(p5, x3, y5 + h5, x3, y5, baseRad);
      arcTo(p5, x3, y5, x3 + w5, y5, endRad);
      p5.closePath();
    }
  };
}
var moveToH = (p5, x3, y5) => {
  p5.moveTo(x3, y5);
};
var moveToV = (p5, y5, x3) => {
  p5.moveTo(x3, y5);
};
var lineToH = (p5, x3, y5) => {
  p5.lineTo(x3, y5);
};
var lineToV = (p5, y5, x3) => {
  p5.lineTo(x3, y5);
};
var rectH = rect(0);
var rectV = rect(1);
var arcH = (p5, x3, y5, r4, startAngle, endAngle) => {
  p5.arc(x3, y5, r4, startAngle, endAngle);
};
var arcV = (p5, y5, x3, r4, startAngle, endAngle) => {
  p5.arc(x3, y5, r4, startAngle, endAngle);
};
var bezierCurveToH = (p5, bp1x, bp1y, bp2x, bp2y, p2x, p2y) => {
  p5.bezierCurveTo(bp1x, bp1y, bp2x, bp2y, p2x, p2y);
};
var bezierCurveToV = (p5, bp1y, bp1x, bp2y, bp2x, p2y, p2x) => {
  p5.bezierCurveTo(bp1x, bp1y, bp2x, bp2y, p2x, p2y);
};
function points(opts) {
  return (u4, seriesIdx, idx0, idx1, filtIdxs) => {
    return orient(u4, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      let { pxRound, points: points2 } = series;
      let moveTo, arc;
      if (scaleX.ori == 0) {
        moveTo = moveToH;
        arc = arcH;
      } else {
        moveTo = moveToV;
        arc = arcV;
      }
      const width = roundDec(points2.width * pxRatio, 3);
      let rad = (points2.size - points2.width) / 2 * pxRatio;
      let dia = roundDec(rad * 2, 3);
      let fill = new Path2D();
      let clip = new Path2D();
      let { left: lft, top, width: wid, height: hgt } = u4.bbox;
      rectH(
        clip,
        lft - dia,
        top - dia,
        wid + dia * 2,
        hgt + dia * 2
      );
      const drawPoint = (pi) => {
        if (dataY[pi] != null) {
          let x3 = pxRound(valToPosX(dataX[pi], scaleX, xDim, xOff));
          let y5 = pxRound(valToPosY(dataY[pi], scaleY, yDim, yOff));
          moveTo(fill, x3 + rad, y5);
          arc(fill, x3, y5, rad, 0, PI * 2);
        }
      };
      if (filtIdxs)
        filtIdxs.forEach(drawPoint);
      else {
        for (let pi = idx0; pi <= idx1; pi++)
          drawPoint(pi);
      }
      return {
        stroke: width > 0 ? fill : null,
        fill,
        clip,
        flags: BAND_CLIP_FILL | BAND_CLIP_STROKE
      };
    });
  };
}
function _drawAcc(lineTo) {
  return (stroke2, accX, minY, maxY, inY, outY) => {
    if (minY != maxY) {
      if (inY != minY && outY != minY)
        lineTo(stroke2, accX, minY);
      if (inY != maxY && outY != maxY)
        lineTo(stroke2, accX, maxY);
      lineTo(stroke2, accX, outY);
    }
  };
}
var drawAccH = _drawAcc(lineToH);
var drawAccV = _drawAcc(lineToV);
function linear(opts) {
  const alignGaps = ifNull(opts?.alignGaps, 0);
  return (u4, seriesIdx, idx0, idx1) => {
    return orient(u4, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      [idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
      let pxRound = series.pxRound;
      let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
      let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
      let lineTo, drawAcc;
      if (scaleX.ori == 0) {
        lineTo = lineToH;
        drawAcc = drawAccH;
      } else {
        lineTo = lineToV;
        drawAcc = drawAccV;
      }
      const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      const _paths = { stroke: new Path2D(), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL };
      const stroke2 = _paths.stroke;
      let hasGap = false;
      const decimate = idx1 - idx0 >= xDim * 4;
      if (decimate) {
        let xForPixel = (pos) => u4.posToVal(pos, scaleX.key, true);
        let minY = null, maxY = null, inY, outY, drawnAtX;
        let accX = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
        let idx0px = pixelForX(dataX[idx0]);
        let idx1px = pixelForX(dataX[idx1]);
        let nextAccXVal = xForPixel(dir == 1 ? idx0px + 1 : idx1px - 1);
        for (let i4 = dir == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += dir) {
          let xVal = dataX[i4];
          let reuseAccX = dir == 1 ? xVal < nextAccXVal : xVal > nextAccXVal;
          let x3 = reuseAccX ? accX : pixelForX(xVal);
          let yVal = dataY[i4];
          if (x3 == accX) {
            if (yVal != null) {
              outY = yVal;
              if (minY == null) {
                lineTo(stroke2, x3, pixelForY(outY));
                inY = minY = maxY = outY;
              } else {
                if (outY < minY)
                  minY = outY;
                else if (outY > maxY)
                  maxY = outY;
              }
            } else {
              if (yVal === null)
                hasGap = true;
            }
          } else {
            if (minY != null)
              drawAcc(stroke2, accX, pixelForY(minY), pixelForY(maxY), pixelForY(inY), pixelForY(outY));
            if (yVal != null) {
              outY = yVal;
              lineTo(stroke2, x3, pixelForY(outY));
              minY = maxY = inY = outY;
            } else {
              minY = maxY = null;
              if (yVal === null)
                hasGap = true;
            }
            accX = x3;
            nextAccXVal = xForPixel(accX + dir);
          }
        }
        if (minY != null && minY != maxY && drawnAtX != accX)
          drawAcc(stroke2, accX, pixelForY(minY), pixelForY(maxY), pixelForY(inY), pixelForY(outY));
      } else {
        for (let i4 = dir == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += dir) {
          let yVal = dataY[i4];
          if (yVal === null)
            hasGap = true;
          else if (yVal != null)
            lineTo(stroke2, pixelForX(dataX[i4]), pixelForY(yVal));
        }
      }
      let [bandFillDir, bandClipDir] = bandFillClipDirs(u4, seriesIdx);
      if (series.fill != null || bandFillDir != 0) {
        let fill = _paths.fill = new Path2D(stroke2);
        let fillToVal = series.fillTo(u4, seriesIdx, series.min, series.max, bandFillDir);
        let fillToY = pixelForY(fillToVal);
        let frX = pixelForX(dataX[idx0]);
        let toX = pixelForX(dataX[idx1]);
        if (dir == -1)
          [toX, frX] = [frX, toX];
        lineTo(fill, toX, fillToY);
        lineTo(fill, frX, fillToY);
      }
      if (!series.spanGaps) {
        let gaps2 = [];
        hasGap && gaps2.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
        _paths.gaps = gaps2 = series.gaps(u4, seriesIdx, idx0, idx1, gaps2);
        _paths.clip = clipGaps(gaps2, scaleX.ori, xOff, yOff, xDim, yDim);
      }
      if (bandClipDir != 0) {
        _paths.band = bandClipDir == 2 ? [
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke2, -1),
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke2, 1)
        ] : clipBandLine(u4, seriesIdx, idx0, idx1, stroke2, bandClipDir);
      }
      return _paths;
    });
  };
}
function stepped(opts) {
  const align = ifNull(opts.align, 1);
  const ascDesc = ifNull(opts.ascDesc, false);
  const alignGaps = ifNull(opts.alignGaps, 0);
  const extend = ifNull(opts.extend, false);
  return (u4, seriesIdx, idx0, idx1) => {
    return orient(u4, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      [idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
      let pxRound = series.pxRound;
      let { left, width } = u4.bbox;
      let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
      let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
      let lineTo = scaleX.ori == 0 ? lineToH : lineToV;
      const _paths = { stroke: new Path2D(), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL };
      const stroke2 = _paths.stroke;
      const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      let prevYPos = pixelForY(dataY[dir == 1 ? idx0 : idx1]);
      let firstXPos = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
      let prevXPos = firstXPos;
      let firstXPosExt = firstXPos;
      if (extend && align == -1) {
        firstXPosExt = left;
        lineTo(stroke2, firstXPosExt, prevYPos);
      }
      lineTo(stroke2, firstXPos, prevYPos);
      for (let i4 = dir == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += dir) {
        let yVal1 = dataY[i4];
        if (yVal1 == null)
          continue;
        let x1 = pixelForX(dataX[i4]);
        let y1 = pixelForY(yVal1);
        if (align == 1)
          lineTo(stroke2, x1, prevYPos);
        else
          lineTo(stroke2, prevXPos, y1);
        lineTo(stroke2, x1, y1);
        prevYPos = y1;
        prevXPos = x1;
      }
      let prevXPosExt = prevXPos;
      if (extend && align == 1) {
        prevXPosExt = left + width;
        lineTo(stroke2, prevXPosExt, prevYPos);
      }
      let [bandFillDir, bandClipDir] = bandFillClipDirs(u4, seriesIdx);
      if (series.fill != null || bandFillDir != 0) {
        let fill = _paths.fill = new Path2D(stroke2);
        let fillTo = series.fillTo(u4, seriesIdx, series.min, series.max, bandFillDir);
        let fillToY = pixelForY(fillTo);
        lineTo(fill, prevXPosExt, fillToY);
        lineTo(fill, firstXPosExt, fillToY);
      }
      if (!series.spanGaps) {
        let gaps2 = [];
        gaps2.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
        let halfStroke = series.width * pxRatio / 2;
        let startsOffset = ascDesc || align == 1 ? halfStroke : -halfStroke;
        let endsOffset = ascDesc || align == -1 ? -halfStroke : halfStroke;
        gaps2.forEach((g5) => {
          g5[0] += startsOffset;
          g5[1] += endsOffset;
        });
        _paths.gaps = gaps2 = series.gaps(u4, seriesIdx, idx0, idx1, gaps2);
        _paths.clip = clipGaps(gaps2, scaleX.ori, xOff, yOff, xDim, yDim);
      }
      if (bandClipDir != 0) {
        _paths.band = bandClipDir == 2 ? [
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke2, -1),
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke2, 1)
        ] : clipBandLine(u4, seriesIdx, idx0, idx1, stroke2, bandClipDir);
      }
      return _paths;
    });
  };
}
function findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid = inf) {
  if (dataX.length > 1) {
    let prevIdx = null;
    for (let i4 = 0, minDelta = Infinity; i4 < dataX.length; i4++) {
      if (dataY[i4] !== void 0) {
        if (prevIdx != null) {
          let delta = abs(dataX[i4] - dataX[prevIdx]);
          if (delta < minDelta) {
            minDelta = delta;
            colWid = abs(valToPosX(dataX[i4], scaleX, xDim, xOff) - valToPosX(dataX[prevIdx], scaleX, xDim, xOff));
          }
        }
        prevIdx = i4;
      }
    }
  }
  return colWid;
}
function bars(opts) {
  opts = opts || EMPTY_OBJ;
  const size = ifNull(opts.size, [0.6, inf, 1]);
  const align = opts.align || 0;
  const _extraGap = opts.gap || 0;
  let ro = opts.radius;
  ro = // [valueRadius, baselineRadius]
  ro == null ? [0, 0] : typeof ro == "number" ? [ro, 0] : ro;
  const radiusFn = fnOrSelf(ro);
  const gapFactor = 1 - size[0];
  const _maxWidth = ifNull(size[1], inf);
  const _minWidth = ifNull(size[2], 1);
  const disp = ifNull(opts.disp, EMPTY_OBJ);
  const _each = ifNull(opts.each, (_4) => {
  });
  const { fill: dispFills, stroke: dispStrokes } = disp;
  return (u4, seriesIdx, idx0, idx1) => {
    return orient(u4, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      let pxRound = series.pxRound;
      let _align = align;
      let extraGap = _extraGap * pxRatio;
      let maxWidth = _maxWidth * pxRatio;
      let minWidth = _minWidth * pxRatio;
      let valRadius, baseRadius;
      if (scaleX.ori == 0)
        [valRadius, baseRadius] = radiusFn(u4, seriesIdx);
      else
        [baseRadius, valRadius] = radiusFn(u4, seriesIdx);
      const _dirX = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      let rect2 = scaleX.ori == 0 ? rectH : rectV;
      let each = scaleX.ori == 0 ? _each : (u5, seriesIdx2, i4, top, lft, hgt, wid) => {
        _each(u5, seriesIdx2, i4, lft, top, wid, hgt);
      };
      let band = ifNull(u4.bands, EMPTY_ARR).find((b3) => b3.series[0] == seriesIdx);
      let fillDir = band != null ? band.dir : 0;
      let fillTo = series.fillTo(u4, seriesIdx, series.min, series.max, fillDir);
      let fillToY = pxRound(valToPosY(fillTo, scaleY, yDim, yOff));
      let xShift, barWid, fullGap, colWid = xDim;
      let strokeWidth = pxRound(series.width * pxRatio);
      let multiPath = false;
      let fillColors = null;
      let fillPaths = null;
      let strokeColors = null;
      let strokePaths = null;
      if (dispFills != null && (strokeWidth == 0 || dispStrokes != null)) {
        multiPath = true;
        fillColors = dispFills.values(u4, seriesIdx, idx0, idx1);
        fillPaths = /* @__PURE__ */ new Map();
        new Set(fillColors).forEach((color) => {
          if (color != null)
            fillPaths.set(color, new Path2D());
        });
        if (strokeWidth > 0) {
          strokeColors = dispStrokes.values(u4, seriesIdx, idx0, idx1);
          strokePaths = /* @__PURE__ */ new Map();
          new Set(strokeColors).forEach((color) => {
            if (color != null)
              strokePaths.set(color, new Path2D());
          });
        }
      }
      let { x0, size: size2 } = disp;
      if (x0 != null && size2 != null) {
        _align = 1;
        dataX = x0.values(u4, seriesIdx, idx0, idx1);
        if (x0.unit == 2)
          dataX = dataX.map((pct) => u4.posToVal(xOff + pct * xDim, scaleX.key, true));
        let sizes = size2.values(u4, seriesIdx, idx0, idx1);
        if (size2.unit == 2)
          barWid = sizes[0] * xDim;
        else
          barWid = valToPosX(sizes[0], scaleX, xDim, xOff) - valToPosX(0, scaleX, xDim, xOff);
        colWid = findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid);
        let gapWid = colWid - barWid;
        fullGap = gapWid + extraGap;
      } else {
        colWid = findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid);
        let gapWid = colWid * gapFactor;
        fullGap = gapWid + extraGap;
        barWid = colWid - fullGap;
      }
      if (fullGap < 1)
        fullGap = 0;
      if (strokeWidth >= barWid / 2)
        strokeWidth = 0;
      if (fullGap < 5)
        pxRound = retArg0;
      let insetStroke = fullGap > 0;
      let rawBarWid = colWid - fullGap - (insetStroke ? strokeWidth : 0);
      barWid = pxRound(clamp(rawBarWid, minWidth, maxWidth));
      xShift = (_align == 0 ? barWid / 2 : _align == _dirX ? 0 : barWid) - _align * _dirX * ((_align == 0 ? extraGap / 2 : 0) + (insetStroke ? strokeWidth / 2 : 0));
      const _paths = { stroke: null, fill: null, clip: null, band: null, gaps: null, flags: 0 };
      const stroke2 = multiPath ? null : new Path2D();
      let dataY0 = null;
      if (band != null)
        dataY0 = u4.data[band.series[1]];
      else {
        let { y0, y1 } = disp;
        if (y0 != null && y1 != null) {
          dataY = y1.values(u4, seriesIdx, idx0, idx1);
          dataY0 = y0.values(u4, seriesIdx, idx0, idx1);
        }
      }
      let radVal = valRadius * barWid;
      let radBase = baseRadius * barWid;
      for (let i4 = _dirX == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += _dirX) {
        let yVal = dataY[i4];
        if (yVal == null)
          continue;
        if (dataY0 != null) {
          let yVal0 = dataY0[i4] ?? 0;
          if (yVal - yVal0 == 0)
            continue;
          fillToY = valToPosY(yVal0, scaleY, yDim, yOff);
        }
        let xVal = scaleX.distr != 2 || disp != null ? dataX[i4] : i4;
        let xPos = valToPosX(xVal, scaleX, xDim, xOff);
        let yPos = valToPosY(ifNull(yVal, fillTo), scaleY, yDim, yOff);
        let lft = pxRound(xPos - xShift);
        let btm = pxRound(max(yPos, fillToY));
        let top = pxRound(min(yPos, fillToY));
        let barHgt = btm - top;
        if (yVal != null) {
          let rv = yVal < 0 ? radBase : radVal;
          let rb = yVal < 0 ? radVal : radBase;
          if (multiPath) {
            if (strokeWidth > 0 && strokeColors[i4] != null)
              rect2(strokePaths.get(strokeColors[i4]), lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
            if (fillColors[i4] != null)
              rect2(fillPaths.get(fillColors[i4]), lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
          } else
            rect2(stroke2, lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
          each(
            u4,
            seriesIdx,
            i4,
            lft - strokeWidth / 2,
            top,
            barWid + strokeWidth,
            barHgt
          );
        }
      }
      if (strokeWidth > 0)
        _paths.stroke = multiPath ? strokePaths : stroke2;
      else if (!multiPath) {
        _paths._fill = series.width == 0 ? series._fill : series._stroke ?? series._fill;
        _paths.width = 0;
      }
      _paths.fill = multiPath ? fillPaths : stroke2;
      return _paths;
    });
  };
}
function splineInterp(interp, opts) {
  const alignGaps = ifNull(opts?.alignGaps, 0);
  return (u4, seriesIdx, idx0, idx1) => {
    return orient(u4, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      [idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
      let pxRound = series.pxRound;
      let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
      let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
      let moveTo, bezierCurveTo, lineTo;
      if (scaleX.ori == 0) {
        moveTo = moveToH;
        lineTo = lineToH;
        bezierCurveTo = bezierCurveToH;
      } else {
        moveTo = moveToV;
        lineTo = lineToV;
        bezierCurveTo = bezierCurveToV;
      }
      const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      let firstXPos = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
      let prevXPos = firstXPos;
      let xCoords = [];
      let yCoords = [];
      for (let i4 = dir == 1 ? idx0 : idx1; i4 >= idx0 && i4 <= idx1; i4 += dir) {
        let yVal = dataY[i4];
        if (yVal != null) {
          let xVal = dataX[i4];
          let xPos = pixelForX(xVal);
          xCoords.push(prevXPos = xPos);
          yCoords.push(pixelForY(dataY[i4]));
        }
      }
      const _paths = { stroke: interp(xCoords, yCoords, moveTo, lineTo, bezierCurveTo, pxRound), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL };
      const stroke2 = _paths.stroke;
      let [bandFillDir, bandClipDir] = bandFillClipDirs(u4, seriesIdx);
      if (series.fill != null || bandFillDir != 0) {
        let fill = _paths.fill = new Path2D(stroke2);
        let fillTo = series.fillTo(u4, seriesIdx, series.min, series.max, bandFillDir);
        let fillToY = pixelForY(fillTo);
        lineTo(fill, prevXPos, fillToY);
        lineTo(fill, firstXPos, fillToY);
      }
      if (!series.spanGaps) {
        let gaps2 = [];
        gaps2.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
        _paths.gaps = gaps2 = series.gaps(u4, seriesIdx, idx0, idx1, gaps2);
        _paths.clip = clipGaps(gaps2, scaleX.ori, xOff, yOff, xDim, yDim);
      }
      if (bandClipDir != 0) {
        _paths.band = bandClipDir == 2 ? [
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke2, -1),
          clipBandLine(u4, seriesIdx, idx0, idx1, stroke2, 1)
        ] : clipBandLine(u4, seriesIdx, idx0, idx1, stroke2, bandClipDir);
      }
      return _paths;
    });
  };
}
function monotoneCubic(opts) {
  return splineInterp(_monotoneCubic, opts);
}
function _monotoneCubic(xs, ys, moveTo, lineTo, bezierCurveTo, pxRound) {
  const n3 = xs.length;
  if (n3 < 2)
    return null;
  const path = new Path2D();
  moveTo(path, xs[0], ys[0]);
  if (n3 == 2)
    lineTo(path, xs[1], ys[1]);
  else {
    let ms = Array(n3), ds = Array(n3 - 1), dys = Array(n3 - 1), dxs = Array(n3 - 1);
    for (let i4 = 0; i4 < n3 - 1; i4++) {
      dys[i4] = ys[i4 + 1] - ys[i4];
      dxs[i4] = xs[i4 + 1] - xs[i4];
      ds[i4] = dys[i4] / dxs[i4];
    }
    ms[0] = ds[0];
    for (let i4 = 1; i4 < n3 - 1; i4++) {
      if (ds[i4] === 0 || ds[i4 - 1] === 0 || ds[i4 - 1] > 0 !== ds[i4] > 0)
        ms[i4] = 0;
      else {
        ms[i4] = 3 * (dxs[i4 - 1] + dxs[i4]) / ((2 * dxs[i4] + dxs[i4 - 1]) / ds[i4 - 1] + (dxs[i4] + 2 * dxs[i4 - 1]) / ds[i4]);
        if (!isFinite(ms[i4]))
          ms[i4] = 0;
      }
    }
    ms[n3 - 1] = ds[n3 - 2];
    for (let i4 = 0; i4 < n3 - 1; i4++) {
      bezierCurveTo(
        path,
        xs[i4] + dxs[i4] / 3,
        ys[i4] + ms[i4] * dxs[i4] / 3,
        xs[i4 + 1] - dxs[i4] / 3,
        ys[i4 + 1] - ms[i4 + 1] * dxs[i4] / 3,
        xs[i4 + 1],
        ys[i4 + 1]
      );
    }
  }
  return path;
}
var cursorPlots = /* @__PURE__ */ new Set();
function invalidateRects() {
  for (let u4 of cursorPlots)
    u4.syncRect(true);
}
if (domEnv) {
  on(resize, win, invalidateRects);
  on(scroll, win, invalidateRects, true);
  on(dppxchange, win, () => {
    uPlot.pxRatio = pxRatio;
  });
}
var linearPath = linear();
var pointsPath = points();
function setDefaults(d4, xo, yo, initY) {
  let d22 = initY ? [d4[0], d4[1]].concat(d4.slice(2)) : [d4[0]].concat(d4.slice(1));
  return d22.map((o5, i4) => setDefault(o5, i4, xo, yo));
}
function setDefaults2(d4, xyo) {
  return d4.map((o5, i4) => i4 == 0 ? {} : assign({}, xyo, o5));
}
function setDefault(o5, i4, xo, yo) {
  return assign({}, i4 == 0 ? xo : yo, o5);
}
function snapNumX(self, dataMin, dataMax) {
  return dataMin == null ? nullNullTuple : [dataMin, dataMax];
}
var snapTimeX = snapNumX;
function snapNumY(self, dataMin, dataMax) {
  return dataMin == null ? nullNullTuple : rangeNum(dataMin, dataMax, rangePad, true);
}
function snapLogY(self, dataMin, dataMax, scale) {
  return dataMin == null ? nullNullTuple : rangeLog(dataMin, dataMax, self.scales[scale].log, false);
}
var snapLogX = snapLogY;
function snapAsinhY(self, dataMin, dataMax, scale) {
  return dataMin == null ? nullNullTuple : rangeAsinh(dataMin, dataMax, self.scales[scale].log, false);
}
var snapAsinhX = snapAsinhY;
function findIncr(minVal, maxVal, incrs, dim, minSpace) {
  let intDigits = max(numIntDigits(minVal), numIntDigits(maxVal));
  let delta = maxVal - minVal;
  let incrIdx = closestIdx(minSpace / dim * delta, incrs);
  do {
    let foundIncr = incrs[incrIdx];
    let foundSpace = dim * foundIncr / delta;
    if (foundSpace >= minSpace && intDigits + (foundIncr < 5 ? fixedDec.get(foundIncr) : 0) <= 17)
      return [foundIncr, foundSpace];
  } while (++incrIdx < incrs.length);
  return [0, 0];
}
function pxRatioFont(font2) {
  let fontSize, fontSizeCss;
  font2 = font2.replace(/(\d+)px/, (m5, p1) => (fontSize = round((fontSizeCss = +p1) * pxRatio)) + "px");
  return [font2, fontSize, fontSizeCss];
}
function syncFontSize(axis) {
  if (axis.show) {
    [axis.font, axis.labelFont].forEach((f5) => {
      let size = roundDec(f5[2] * pxRatio, 1);
      f5[0] = f5[0].replace(/[0-9.]+px/, size + "px");
      f5[1] = size;
    });
  }
}
function uPlot(opts, data, then) {
  const self = {
    mode: ifNull(opts.mode, 1)
  };
  const mode = self.mode;
  function getHPos(val, scale, dim, off2) {
    let pct = scale.valToPct(val);
    return off2 + dim * (scale.dir == -1 ? 1 - pct : pct);
  }
  function getVPos(val, scale, dim, off2) {
    let pct = scale.valToPct(val);
    return off2 + dim * (scale.dir == -1 ? pct : 1 - pct);
  }
  function getPos(val, scale, dim, off2) {
    return scale.ori == 0 ? getHPos(val, scale, dim, off2) : getVPos(val, scale, dim, off2);
  }
  self.valToPosH = getHPos;
  self.valToPosV = getVPos;
  let ready = false;
  self.status = 0;
  const root = self.root = placeDiv(UPLOT);
  if (opts.id != null)
    root.id = opts.id;
  addClass(root, opts.class);
  if (opts.title) {
    let title = placeDiv(TITLE2, root);
    title.textContent = opts.title;
  }
  const can = placeTag("canvas");
  const ctx = self.ctx = can.getContext("2d");
  const wrap = placeDiv(WRAP, root);
  on("click", wrap, (e4) => {
    if (e4.target === over) {
      let didDrag = mouseLeft1 != mouseLeft0 || mouseTop1 != mouseTop0;
      didDrag && drag.click(self, e4);
    }
  }, true);
  const under = self.under = placeDiv(UNDER, wrap);
  wrap.appendChild(can);
  const over = self.over = placeDiv(OVER, wrap);
  opts = copy2(opts);
  const pxAlign = +ifNull(opts.pxAlign, 1);
  const pxRound = pxRoundGen(pxAlign);
  (opts.plugins || []).forEach((p5) => {
    if (p5.opts)
      opts = p5.opts(self, opts) || opts;
  });
  const ms = opts.ms || 1e-3;
  const series = self.series = mode == 1 ? setDefaults(opts.series || [], xSeriesOpts, ySeriesOpts, false) : setDefaults2(opts.series || [null], xySeriesOpts);
  const axes = self.axes = setDefaults(opts.axes || [], xAxisOpts, yAxisOpts, true);
  const scales = self.scales = {};
  const bands = self.bands = opts.bands || [];
  bands.forEach((b3) => {
    b3.fill = fnOrSelf(b3.fill || null);
    b3.dir = ifNull(b3.dir, -1);
  });
  const xScaleKey = mode == 2 ? series[1].facets[0].scale : series[0].scale;
  const drawOrderMap = {
    axes: drawAxesGrid,
    series: drawSeries
  };
  const drawOrder = (opts.drawOrder || ["axes", "series"]).map((key2) => drawOrderMap[key2]);
  function initValToPct(sc) {
    const getVal = sc.distr == 3 ? (val) => log10(val > 0 ? val : sc.clamp(self, val, sc.min, sc.max, sc.key)) : sc.distr == 4 ? (val) => asinh(val, sc.asinh) : sc.distr == 100 ? (val) => sc.fwd(val) : (val) => val;
    return (val) => {
      let _val = getVal(val);
      let { _min, _max } = sc;
      let delta = _max - _min;
      return (_val - _min) / delta;
    };
  }
  function initScale(scaleKey) {
    let sc = scales[scaleKey];
    if (sc == null) {
      let scaleOpts = (opts.scales || EMPTY_OBJ)[scaleKey] || EMPTY_OBJ;
      if (scaleOpts.from != null) {
        initScale(scaleOpts.from);
        let sc2 = assign({}, scales[scaleOpts.from], scaleOpts, { key: scaleKey });
        sc2.valToPct = initValToPct(sc2);
        scales[scaleKey] = sc2;
      } else {
        sc = scales[scaleKey] = assign({}, scaleKey == xScaleKey ? xScaleOpts : yScaleOpts, scaleOpts);
        sc.key = scaleKey;
        let isTime = sc.time;
        let rn = sc.range;
        let rangeIsArr = isArr(rn);
        if (scaleKey != xScaleKey || mode == 2 && !isTime) {
          if (rangeIsArr && (rn[0] == null || rn[1] == null)) {
            rn = {
              min: rn[0] == null ? autoRangePart : {
                mode: 1,
                hard: rn[0],
                soft: rn[0]
              },
              max: rn[1] == null ? autoRangePart : {
                mode: 1,
                hard: rn[1],
                soft: rn[1]
              }
            };
            rangeIsArr = false;
          }
          if (!rangeIsArr && isObj(rn)) {
            let cfg = rn;
            rn = (self2, dataMin, dataMax) => dataMin == null ? nullNullTuple : rangeNum(dataMin, dataMax, cfg);
          }
        }
        sc.range = fnOrSelf(rn || (isTime ? snapTimeX : scaleKey == xScaleKey ? sc.distr == 3 ? snapLogX : sc.distr == 4 ? snapAsinhX : snapNumX : sc.distr == 3 ? snapLogY : sc.distr == 4 ? snapAsinhY : snapNumY));
        sc.auto = fnOrSelf(rangeIsArr ? false : sc.auto);
        sc.clamp = fnOrSelf(sc.clamp || clampScale);
        sc._min = sc._max = null;
        sc.valToPct = initValToPct(sc);
      }
    }
  }
  initScale("x");
  initScale("y");
  if (mode == 1) {
    series.forEach((s4) => {
      initScale(s4.scale);
    });
  }
  axes.forEach((a5) => {
    initScale(a5.scale);
  });
  for (let k4 in opts.scales)
    initScale(k4);
  const scaleX = scales[xScaleKey];
  const xScaleDistr = scaleX.distr;
  let valToPosX, valToPosY;
  if (scaleX.ori == 0) {
    addClass(root, ORI_HZ);
    valToPosX = getHPos;
    valToPosY = getVPos;
  } else {
    addClass(root, ORI_VT);
    valToPosX = getVPos;
    valToPosY = getHPos;
  }
  const pendScales = {};
  for (let k4 in scales) {
    let sc = scales[k4];
    if (sc.min != null || sc.max != null) {
      pendScales[k4] = { min: sc.min, max: sc.max };
      sc.min = sc.max = null;
    }
  }
  const _tzDate = opts.tzDate || ((ts) => new Date(round(ts / ms)));
  const _fmtDate = opts.fmtDate || fmtDate;
  const _timeAxisSplits = ms == 1 ? timeAxisSplitsMs(_tzDate) : timeAxisSplitsS(_tzDate);
  const _timeAxisVals = timeAxisVals(_tzDate, timeAxisStamps(ms == 1 ? _timeAxisStampsMs : _timeAxisStampsS, _fmtDate));
  const _timeSeriesVal = timeSeriesVal(_tzDate, timeSeriesStamp(_timeSeriesStamp, _fmtDate));
  const activeIdxs = [];
  const legend = self.legend = assign({}, legendOpts, opts.legend);
  const cursor = self.cursor = assign({}, cursorOpts, { drag: { y: mode == 2 } }, opts.cursor);
  const showLegend = legend.show;
  const showCursor = cursor.show;
  const markers = legend.markers;
  {
    legend.idxs = activeIdxs;
    markers.width = fnOrSelf(markers.width);
    markers.dash = fnOrSelf(markers.dash);
    markers.stroke = fnOrSelf(markers.stroke);
    markers.fill = fnOrSelf(markers.fill);
  }
  let legendTable;
  let legendHead;
  let legendBody;
  let legendRows = [];
  let legendCells = [];
  let legendCols;
  let multiValLegend = false;
  let NULL_LEGEND_VALUES = {};
  if (legend.live) {
    const getMultiVals = series[1] ? series[1].values : null;
    multiValLegend = getMultiVals != null;
    legendCols = multiValLegend ? getMultiVals(self, 1, 0) : { _: 0 };
    for (let k4 in legendCols)
      NULL_LEGEND_VALUES[k4] = LEGEND_DISP;
  }
  if (showLegend) {
    legendTable = placeTag("table", LEGEND, root);
    legendBody = placeTag("tbody", null, legendTable);
    legend.mount(self, legendTable);
    if (multiValLegend) {
      legendHead = placeTag("thead", null, legendTable, legendBody);
      let head = placeTag("tr", null, legendHead);
      placeTag("th", null, head);
      for (var key in legendCols)
        placeTag("th", LEGEND_LABEL, head).textContent = key;
    } else {
      addClass(legendTable, LEGEND_INLINE);
      legend.live && addClass(legendTable, LEGEND_LIVE);
    }
  }
  const son = { show: true };
  const soff = { show: false };
  function initLegendRow(s4, i4) {
    if (i4 == 0 && (multiValLegend || !legend.live || mode == 2))
      return nullNullTuple;
    let cells2 = [];
    let row = placeTag("tr", LEGEND_SERIES, legendBody, legendBody.childNodes[i4]);
    addClass(row, s4.class);
    if (!s4.show)
      addClass(row, OFF);
    let label2 = placeTag("th", null, row);
    if (markers.show) {
      let indic = placeDiv(LEGEND_MARKER, label2);
      if (i4 > 0) {
        let width = markers.width(self, i4);
        if (width)
          indic.style.border = width + "px " + markers.dash(self, i4) + " " + markers.stroke(self, i4);
        indic.style.background = markers.fill(self, i4);
      }
    }
    let text = placeDiv(LEGEND_LABEL, label2);
    if (s4.label instanceof HTMLElement)
      text.appendChild(s4.label);
    else
      text.textContent = s4.label;
    if (i4 > 0) {
      if (!markers.show)
        text.style.color = s4.width > 0 ? markers.stroke(self, i4) : markers.fill(self, i4);
      onMouse("click", label2, (e4) => {
        if (cursor._lock)
          return;
        setCursorEvent(e4);
        let seriesIdx = series.indexOf(s4);
        if ((e4.ctrlKey || e4.metaKey) != legend.isolate) {
          let isolate = series.some((s5, i5) => i5 > 0 && i5 != seriesIdx && s5.show);
          series.forEach((s5, i5) => {
            i5 > 0 && setSeries(i5, isolate ? i5 == seriesIdx ? son : soff : son, true, syncOpts.setSeries);
          });
        } else
          setSeries(seriesIdx, { show: !s4.show }, true, syncOpts.setSeries);
      }, false);
      if (cursorFocus) {
        onMouse(mouseenter, label2, (e4) => {
          if (cursor._lock)
            return;
          setCursorEvent(e4);
          setSeries(series.indexOf(s4), FOCUS_TRUE, true, syncOpts.setSeries);
        }, false);
      }
    }
    for (var key2 in legendCols) {
      let v4 = placeTag("td", LEGEND_VALUE, row);
      v4.textContent = "--";
      cells2.push(v4);
    }
    return [row, cells2];
  }
  const mouseListeners = /* @__PURE__ */ new Map();
  function onMouse(ev, targ, fn, onlyTarg = true) {
    const targListeners = mouseListeners.get(targ) || {};
    const listener = cursor.bind[ev](self, targ, fn, onlyTarg);
    if (listener) {
      on(ev, targ, targListeners[ev] = listener);
      mouseListeners.set(targ, targListeners);
    }
  }
  function offMouse(ev, targ, fn) {
    const targListeners = mouseListeners.get(targ) || {};
    for (let k4 in targListeners) {
      if (ev == null || k4 == ev) {
        off(k4, targ, targListeners[k4]);
        delete targListeners[k4];
      }
    }
    if (ev == null)
      mouseListeners.delete(targ);
  }
  let fullWidCss = 0;
  let fullHgtCss = 0;
  let plotWidCss = 0;
  let plotHgtCss = 0;
  let plotLftCss = 0;
  let plotTopCss = 0;
  let _plotLftCss = plotLftCss;
  let _plotTopCss = plotTopCss;
  let _plotWidCss = plotWidCss;
  let _plotHgtCss = plotHgtCss;
  let plotLft = 0;
  let plotTop = 0;
  let plotWid = 0;
  let plotHgt = 0;
  self.bbox = {};
  let shouldSetScales = false;
  let shouldSetSize = false;
  let shouldConvergeSize = false;
  let shouldSetCursor = false;
  let shouldSetSelect = false;
  let shouldSetLegend = false;
  function _setSize(width, height, force) {
    if (force || (width != self.width || height != self.height))
      calcSize(width, height);
    resetYSeries(false);
    shouldConvergeSize = true;
    shouldSetSize = true;
    commit();
  }
  function calcSize(width, height) {
    self.width = fullWidCss = plotWidCss = width;
    self.height = fullHgtCss = plotHgtCss = height;
    plotLftCss = plotTopCss = 0;
    calcPlotRect();
    calcAxesRects();
    let bb = self.bbox;
    plotLft = bb.left = incrRound(plotLftCss * pxRatio, 0.5);
    plotTop = bb.top = incrRound(plotTopCss * pxRatio, 0.5);
    plotWid = bb.width = incrRound(plotWidCss * pxRatio, 0.5);
    plotHgt = bb.height = incrRound(plotHgtCss * pxRatio, 0.5);
  }
  const CYCLE_LIMIT = 3;
  function convergeSize() {
    let converged = false;
    let cycleNum = 0;
    while (!converged) {
      cycleNum++;
      let axesConverged = axesCalc(cycleNum);
      let paddingConverged = paddingCalc(cycleNum);
      converged = cycleNum == CYCLE_LIMIT || axesConverged && paddingConverged;
      if (!converged) {
        calcSize(self.width, self.height);
        shouldSetSize = true;
      }
    }
  }
  function setSize({ width, height }) {
    _setSize(width, height);
  }
  self.setSize = setSize;
  function calcPlotRect() {
    let hasTopAxis = false;
    let hasBtmAxis = false;
    let hasRgtAxis = false;
    let hasLftAxis = false;
    axes.forEach((axis, i4) => {
      if (axis.show && axis._show) {
        let { side, _size } = axis;
        let isVt = side % 2;
        let labelSize = axis.label != null ? axis.labelSize : 0;
        let fullSize = _size + labelSize;
        if (fullSize > 0) {
          if (isVt) {
            plotWidCss -= fullSize;
            if (side == 3) {
              plotLftCss += fullSize;
              hasLftAxis = true;
            } else
              hasRgtAxis = true;
          } else {
            plotHgtCss -= fullSize;
            if (side == 0) {
              plotTopCss += fullSize;
              hasTopAxis = true;
            } else
              hasBtmAxis = true;
          }
        }
      }
    });
    sidesWithAxes[0] = hasTopAxis;
    sidesWithAxes[1] = hasRgtAxis;
    sidesWithAxes[2] = hasBtmAxis;
    sidesWithAxes[3] = hasLftAxis;
    plotWidCss -= _padding[1] + _padding[3];
    plotLftCss += _padding[3];
    plotHgtCss -= _padding[2] + _padding[0];
    plotTopCss += _padding[0];
  }
  function calcAxesRects() {
    let off1 = plotLftCss + plotWidCss;
    let off2 = plotTopCss + plotHgtCss;
    let off3 = plotLftCss;
    let off0 = plotTopCss;
    function incrOffset(side, size) {
      switch (side) {
        case 1:
          off1 += size;
          return off1 - size;
        case 2:
          off2 += size;
          return off2 - size;
        case 3:
          off3 -= size;
          return off3 + size;
        case 0:
          off0 -= size;
          return off0 + size;
      }
    }
    axes.forEach((axis, i4) => {
      if (axis.show && axis._show) {
        let side = axis.side;
        axis._pos = incrOffset(side, axis._size);
        if (axis.label != null)
          axis._lpos = incrOffset(side, axis.labelSize);
      }
    });
  }
  if (cursor.dataIdx == null) {
    let hov = cursor.hover;
    let skip = hov.skip = new Set(hov.skip ?? []);
    skip.add(void 0);
    let prox = hov.prox = fnOrSelf(hov.prox);
    let bias = hov.bias ??= 0;
    cursor.dataIdx = (self2, seriesIdx, cursorIdx, valAtPosX) => {
      if (seriesIdx == 0)
        return cursorIdx;
      let idx2 = cursorIdx;
      let _prox = prox(self2, seriesIdx, cursorIdx, valAtPosX) ?? inf;
      let withProx = _prox >= 0 && _prox < inf;
      let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss;
      let cursorLft = cursor.left;
      let xValues = data[0];
      let yValues = data[seriesIdx];
      if (skip.has(yValues[cursorIdx])) {
        idx2 = null;
        let nonNullLft = null, nonNullRgt = null, j3;
        if (bias == 0 || bias == -1) {
          j3 = cursorIdx;
          while (nonNullLft == null && j3-- > 0) {
            if (!skip.has(yValues[j3]))
              nonNullLft = j3;
          }
        }
        if (bias == 0 || bias == 1) {
          j3 = cursorIdx;
          while (nonNullRgt == null && j3++ < yValues.length) {
            if (!skip.has(yValues[j3]))
              nonNullRgt = j3;
          }
        }
        if (nonNullLft != null || nonNullRgt != null) {
          if (withProx) {
            let lftPos = nonNullLft == null ? -Infinity : valToPosX(xValues[nonNullLft], scaleX, xDim, 0);
            let rgtPos = nonNullRgt == null ? Infinity : valToPosX(xValues[nonNullRgt], scaleX, xDim, 0);
            let lftDelta = cursorLft - lftPos;
            let rgtDelta = rgtPos - cursorLft;
            if (lftDelta <= rgtDelta) {
              if (lftDelta <= _prox)
                idx2 = nonNullLft;
            } else {
              if (rgtDelta <= _prox)
                idx2 = nonNullRgt;
            }
          } else {
            idx2 = nonNullRgt == null ? nonNullLft : nonNullLft == null ? nonNullRgt : cursorIdx - nonNullLft <= nonNullRgt - cursorIdx ? nonNullLft : nonNullRgt;
          }
        }
      } else if (withProx) {
        let dist = abs(cursorLft - valToPosX(xValues[cursorIdx], scaleX, xDim, 0));
        if (dist > _prox)
          idx2 = null;
      }
      return idx2;
    };
  }
  const setCursorEvent = (e4) => {
    cursor.event = e4;
  };
  cursor.idxs = activeIdxs;
  cursor._lock = false;
  let points2 = cursor.points;
  points2.show = fnOrSelf(points2.show);
  points2.size = fnOrSelf(points2.size);
  points2.stroke = fnOrSelf(points2.stroke);
  points2.width = fnOrSelf(points2.width);
  points2.fill = fnOrSelf(points2.fill);
  const focus = self.focus = assign({}, opts.focus || { alpha: 0.3 }, cursor.focus);
  const cursorFocus = focus.prox >= 0;
  const cursorOnePt = cursorFocus && points2.one;
  let cursorPts = [];
  let cursorPtsLft = [];
  let cursorPtsTop = [];
  function initCursorPt(s4, si) {
    let pt = points2.show(self, si);
    if (pt instanceof HTMLElement) {
      addClass(pt, CURSOR_PT);
      addClass(pt, s4.class);
      elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
      over.insertBefore(pt, cursorPts[si]);
      return pt;
    }
  }
  function initSeries(s4, i4) {
    if (mode == 1 || i4 > 0) {
      let isTime = mode == 1 && scales[s4.scale].time;
      let sv = s4.value;
      s4.value = isTime ? isStr(sv) ? timeSeriesVal(_tzDate, timeSeriesStamp(sv, _fmtDate)) : sv || _timeSeriesVal : sv || numSeriesVal;
      s4.label = s4.label || (isTime ? timeSeriesLabel : numSeriesLabel);
    }
    if (cursorOnePt || i4 > 0) {
      s4.width = s4.width == null ? 1 : s4.width;
      s4.paths = s4.paths || linearPath || retNull;
      s4.fillTo = fnOrSelf(s4.fillTo || seriesFillTo);
      s4.pxAlign = +ifNull(s4.pxAlign, pxAlign);
      s4.pxRound = pxRoundGen(s4.pxAlign);
      s4.stroke = fnOrSelf(s4.stroke || null);
      s4.fill = fnOrSelf(s4.fill || null);
      s4._stroke = s4._fill = s4._paths = s4._focus = null;
      let _ptDia = ptDia(max(1, s4.width), 1);
      let points3 = s4.points = assign({}, {
        size: _ptDia,
        width: max(1, _ptDia * 0.2),
        stroke: s4.stroke,
        space: _ptDia * 2,
        paths: pointsPath,
        _stroke: null,
        _fill: null
      }, s4.points);
      points3.show = fnOrSelf(points3.show);
      points3.filter = fnOrSelf(points3.filter);
      points3.fill = fnOrSelf(points3.fill);
      points3.stroke = fnOrSelf(points3.stroke);
      points3.paths = fnOrSelf(points3.paths);
      points3.pxAlign = s4.pxAlign;
    }
    if (showLegend) {
      let rowCells = initLegendRow(s4, i4);
      legendRows.splice(i4, 0, rowCells[0]);
      legendCells.splice(i4, 0, rowCells[1]);
      legend.values.push(null);
    }
    if (showCursor) {
      activeIdxs.splice(i4, 0, null);
      let pt = null;
      if (cursorOnePt) {
        if (i4 == 0)
          pt = initCursorPt(s4, i4);
      } else if (i4 > 0)
        pt = initCursorPt(s4, i4);
      cursorPts.splice(i4, 0, pt);
      cursorPtsLft.splice(i4, 0, 0);
      cursorPtsTop.splice(i4, 0, 0);
    }
    fire("addSeries", i4);
  }
  function addSeries(opts2, si) {
    si = si == null ? series.length : si;
    opts2 = mode == 1 ? setDefault(opts2, si, xSeriesOpts, ySeriesOpts) : setDefault(opts2, si, {}, xySeriesOpts);
    series.splice(si, 0, opts2);
    initSeries(series[si], si);
  }
  self.addSeries = addSeries;
  function delSeries(i4) {
    series.splice(i4, 1);
    if (showLegend) {
      legend.values.splice(i4, 1);
      legendCells.splice(i4, 1);
      let tr = legendRows.splice(i4, 1)[0];
      offMouse(null, tr.firstChild);
      tr.remove();
    }
    if (showCursor) {
      activeIdxs.splice(i4, 1);
      cursorPts.splice(i4, 1)[0].remove();
      cursorPtsLft.splice(i4, 1);
      cursorPtsTop.splice(i4, 1);
    }
    fire("delSeries", i4);
  }
  self.delSeries = delSeries;
  const sidesWithAxes = [false, false, false, false];
  function initAxis(axis, i4) {
    axis._show = axis.show;
    if (axis.show) {
      let isVt = axis.side % 2;
      let sc = scales[axis.scale];
      if (sc == null) {
        axis.scale = isVt ? series[1].scale : xScaleKey;
        sc = scales[axis.scale];
      }
      let isTime = sc.time;
      axis.size = fnOrSelf(axis.size);
      axis.space = fnOrSelf(axis.space);
      axis.rotate = fnOrSelf(axis.rotate);
      if (isArr(axis.incrs)) {
        axis.incrs.forEach((incr) => {
          !fixedDec.has(incr) && fixedDec.set(incr, guessDec(incr));
        });
      }
      axis.incrs = fnOrSelf(axis.incrs || (sc.distr == 2 ? wholeIncrs : isTime ? ms == 1 ? timeIncrsMs : timeIncrsS : numIncrs));
      axis.splits = fnOrSelf(axis.splits || (isTime && sc.distr == 1 ? _timeAxisSplits : sc.distr == 3 ? logAxisSplits : sc.distr == 4 ? asinhAxisSplits : numAxisSplits));
      axis.stroke = fnOrSelf(axis.stroke);
      axis.grid.stroke = fnOrSelf(axis.grid.stroke);
      axis.ticks.stroke = fnOrSelf(axis.ticks.stroke);
      axis.border.stroke = fnOrSelf(axis.border.stroke);
      let av = axis.values;
      axis.values = // static array of tick values
      isArr(av) && !isArr(av[0]) ? fnOrSelf(av) : (
        // temporal
        isTime ? (
          // config array of fmtDate string tpls
          isArr(av) ? timeAxisVals(_tzDate, timeAxisStamps(av, _fmtDate)) : (
            // fmtDate string tpl
            isStr(av) ? timeAxisVal(_tzDate, av) : av || _timeAxisVals
          )
        ) : av || numAxisVals
      );
      axis.filter = fnOrSelf(axis.filter || (sc.distr >= 3 && sc.log == 10 ? log10AxisValsFilt : sc.distr == 3 && sc.log == 2 ? log2AxisValsFilt : retArg1));
      axis.font = pxRatioFont(axis.font);
      axis.labelFont = pxRatioFont(axis.labelFont);
      axis._size = axis.size(self, null, i4, 0);
      axis._space = axis._rotate = axis._incrs = axis._found = // foundIncrSpace
      axis._splits = axis._values = null;
      if (axis._size > 0) {
        sidesWithAxes[i4] = true;
        axis._el = placeDiv(AXIS, wrap);
      }
    }
  }
  function autoPadSide(self2, side, sidesWithAxes2, cycleNum) {
    let [hasTopAxis, hasRgtAxis, hasBtmAxis, hasLftAxis] = sidesWithAxes2;
    let ori = side % 2;
    let size = 0;
    if (ori == 0 && (hasLftAxis || hasRgtAxis))
      size = side == 0 && !hasTopAxis || side == 2 && !hasBtmAxis ? round(xAxisOpts.size / 3) : 0;
    if (ori == 1 && (hasTopAxis || hasBtmAxis))
      size = side == 1 && !hasRgtAxis || side == 3 && !hasLftAxis ? round(yAxisOpts.size / 2) : 0;
    return size;
  }
  const padding = self.padding = (opts.padding || [autoPadSide, autoPadSide, autoPadSide, autoPadSide]).map((p5) => fnOrSelf(ifNull(p5, autoPadSide)));
  const _padding = self._padding = padding.map((p5, i4) => p5(self, i4, sidesWithAxes, 0));
  let dataLen;
  let i0 = null;
  let i1 = null;
  const idxs = mode == 1 ? series[0].idxs : null;
  let data0 = null;
  let viaAutoScaleX = false;
  function setData(_data, _resetScales) {
    data = _data == null ? [] : _data;
    self.data = self._data = data;
    if (mode == 2) {
      dataLen = 0;
      for (let i4 = 1; i4 < series.length; i4++)
        dataLen += data[i4][0].length;
    } else {
      if (data.length == 0)
        self.data = self._data = data = [[]];
      data0 = data[0];
      dataLen = data0.length;
      let scaleData = data;
      if (xScaleDistr == 2) {
        scaleData = data.slice();
        let _data0 = scaleData[0] = Array(dataLen);
        for (let i4 = 0; i4 < dataLen; i4++)
          _data0[i4] = i4;
      }
      self._data = data = scaleData;
    }
    resetYSeries(true);
    fire("setData");
    if (xScaleDistr == 2) {
      shouldConvergeSize = true;
    }
    if (_resetScales !== false) {
      let xsc = scaleX;
      if (xsc.auto(self, viaAutoScaleX))
        autoScaleX();
      else
        _setScale(xScaleKey, xsc.min, xsc.max);
      shouldSetCursor = shouldSetCursor || cursor.left >= 0;
      shouldSetLegend = true;
      commit();
    }
  }
  self.setData = setData;
  function autoScaleX() {
    viaAutoScaleX = true;
    let _min, _max;
    if (mode == 1) {
      if (dataLen > 0) {
        i0 = idxs[0] = 0;
        i1 = idxs[1] = dataLen - 1;
        _min = data[0][i0];
        _max = data[0][i1];
        if (xScaleDistr == 2) {
          _min = i0;
          _max = i1;
        } else if (_min == _max) {
          if (xScaleDistr == 3)
            [_min, _max] = rangeLog(_min, _min, scaleX.log, false);
          else if (xScaleDistr == 4)
            [_min, _max] = rangeAsinh(_min, _min, scaleX.log, false);
          else if (scaleX.time)
            _max = _min + round(86400 / ms);
          else
            [_min, _max] = rangeNum(_min, _max, rangePad, true);
        }
      } else {
        i0 = idxs[0] = _min = null;
        i1 = idxs[1] = _max = null;
      }
    }
    _setScale(xScaleKey, _min, _max);
  }
  let ctxStroke, ctxFill, ctxWidth, ctxDash, ctxJoin, ctxCap, ctxFont, ctxAlign, ctxBaseline;
  let ctxAlpha;
  function setCtxStyle(stroke2, width, dash, cap, fill, join2) {
    stroke2 ??= transparent;
    dash ??= EMPTY_ARR;
    cap ??= "butt";
    fill ??= transparent;
    join2 ??= "round";
    if (stroke2 != ctxStroke)
      ctx.strokeStyle = ctxStroke = stroke2;
    if (fill != ctxFill)
      ctx.fillStyle = ctxFill = fill;
    if (width != ctxWidth)
      ctx.lineWidth = ctxWidth = width;
    if (join2 != ctxJoin)
      ctx.lineJoin = ctxJoin = join2;
    if (cap != ctxCap)
      ctx.lineCap = ctxCap = cap;
    if (dash != ctxDash)
      ctx.setLineDash(ctxDash = dash);
  }
  function setFontStyle(font2, fill, align, baseline) {
    if (fill != ctxFill)
      ctx.fillStyle = ctxFill = fill;
    if (font2 != ctxFont)
      ctx.font = ctxFont = font2;
    if (align != ctxAlign)
      ctx.textAlign = ctxAlign = align;
    if (baseline != ctxBaseline)
      ctx.textBaseline = ctxBaseline = baseline;
  }
  function accScale(wsc, psc, facet2, data2, sorted2 = 0) {
    if (data2.length > 0 && wsc.auto(self, viaAutoScaleX) && (psc == null || psc.min == null)) {
      let _i0 = ifNull(i0, 0);
      let _i1 = ifNull(i1, data2.length - 1);
      let minMax = facet2.min == null ? getMinMax(data2, _i0, _i1, sorted2, wsc.distr == 3) : [facet2.min, facet2.max];
      wsc.min = min(wsc.min, facet2.min = minMax[0]);
      wsc.max = max(wsc.max, facet2.max = minMax[1]);
    }
  }
  const AUTOSCALE = { min: null, max: null };
  function setScales() {
    for (let k4 in scales) {
      let sc = scales[k4];
      if (pendScales[k4] == null && // scales that have never been set (on init)
      (sc.min == null || // or auto scales when the x scale was explicitly set
      pendScales[xScaleKey] != null && sc.auto(self, viaAutoScaleX))) {
        pendScales[k4] = AUTOSCALE;
      }
    }
    for (let k4 in scales) {
      let sc = scales[k4];
      if (pendScales[k4] == null && sc.from != null && pendScales[sc.from] != null)
        pendScales[k4] = AUTOSCALE;
    }
    if (pendScales[xScaleKey] != null)
      resetYSeries(true);
    let wipScales = {};
    for (let k4 in pendScales) {
      let psc = pendScales[k4];
      if (psc != null) {
        let wsc = wipScales[k4] = copy2(scales[k4], fastIsObj);
        if (psc.min != null)
          assign(wsc, psc);
        else if (k4 != xScaleKey || mode == 2) {
          if (dataLen == 0 && wsc.from == null) {
            let minMax = wsc.range(self, null, null, k4);
            wsc.min = minMax[0];
            wsc.max = minMax[1];
          } else {
            wsc.min = inf;
            wsc.max = -inf;
          }
        }
      }
    }
    if (dataLen > 0) {
      series.forEach((s4, i4) => {
        if (mode == 1) {
          let k4 = s4.scale;
          let psc = pendScales[k4];
          if (psc == null)
            return;
          let wsc = wipScales[k4];
          if (i4 == 0) {
            let minMax = wsc.range(self, wsc.min, wsc.max, k4);
            wsc.min = minMax[0];
            wsc.max = minMax[1];
            i0 = closestIdx(wsc.min, data[0]);
            i1 = closestIdx(wsc.max, data[0]);
            if (i1 - i0 > 1) {
              if (data[0][i0] < wsc.min)
                i0++;
              if (data[0][i1] > wsc.max)
                i1--;
            }
            s4.min = data0[i0];
            s4.max = data0[i1];
          } else if (s4.show && s4.auto)
            accScale(wsc, psc, s4, data[i4], s4.sorted);
          s4.idxs[0] = i0;
          s4.idxs[1] = i1;
        } else {
          if (i4 > 0) {
            if (s4.show && s4.auto) {
              let [xFacet, yFacet] = s4.facets;
              let xScaleKey2 = xFacet.scale;
              let yScaleKey = yFacet.scale;
              let [xData, yData] = data[i4];
              let wscx = wipScales[xScaleKey2];
              let wscy = wipScales[yScaleKey];
              wscx != null && accScale(wscx, pendScales[xScaleKey2], xFacet, xData, xFacet.sorted);
              wscy != null && accScale(wscy, pendScales[yScaleKey], yFacet, yData, yFacet.sorted);
              s4.min = yFacet.min;
              s4.max = yFacet.max;
            }
          }
        }
      });
      for (let k4 in wipScales) {
        let wsc = wipScales[k4];
        let psc = pendScales[k4];
        if (wsc.from == null && (psc == null || psc.min == null)) {
          let minMax = wsc.range(
            self,
            wsc.min == inf ? null : wsc.min,
            wsc.max == -inf ? null : wsc.max,
            k4
          );
          wsc.min = minMax[0];
          wsc.max = minMax[1];
        }
      }
    }
    for (let k4 in wipScales) {
      let wsc = wipScales[k4];
      if (wsc.from != null) {
        let base = wipScales[wsc.from];
        if (base.min == null)
          wsc.min = wsc.max = null;
        else {
          let minMax = wsc.range(self, base.min, base.max, k4);
          wsc.min = minMax[0];
          wsc.max = minMax[1];
        }
      }
    }
    let changed = {};
    let anyChanged = false;
    for (let k4 in wipScales) {
      let wsc = wipScales[k4];
      let sc = scales[k4];
      if (sc.min != wsc.min || sc.max != wsc.max) {
        sc.min = wsc.min;
        sc.max = wsc.max;
        let distr = sc.distr;
        sc._min = distr == 3 ? log10(sc.min) : distr == 4 ? asinh(sc.min, sc.asinh) : distr == 100 ? sc.fwd(sc.min) : sc.min;
        sc._max = distr == 3 ? log10(sc.max) : distr == 4 ? asinh(sc.max, sc.asinh) : distr == 100 ? sc.fwd(sc.max) : sc.max;
        changed[k4] = anyChanged = true;
      }
    }
    if (anyChanged) {
      series.forEach((s4, i4) => {
        if (mode == 2) {
          if (i4 > 0 && changed.y)
            s4._paths = null;
        } else {
          if (changed[s4.scale])
            s4._paths = null;
        }
      });
      for (let k4 in changed) {
        shouldConvergeSize = true;
        fire("setScale", k4);
      }
      if (showCursor && cursor.left >= 0)
        shouldSetCursor = shouldSetLegend = true;
    }
    for (let k4 in pendScales)
      pendScales[k4] = null;
  }
  function getOuterIdxs(ydata) {
    let _i0 = clamp(i0 - 1, 0, dataLen - 1);
    let _i1 = clamp(i1 + 1, 0, dataLen - 1);
    while (ydata[_i0] == null && _i0 > 0)
      _i0--;
    while (ydata[_i1] == null && _i1 < dataLen - 1)
      _i1++;
    return [_i0, _i1];
  }
  function drawSeries() {
    if (dataLen > 0) {
      let shouldAlpha = series.some((s4) => s4._focus) && ctxAlpha != focus.alpha;
      if (shouldAlpha)
        ctx.globalAlpha = ctxAlpha = focus.alpha;
      series.forEach((s4, i4) => {
        if (i4 > 0 && s4.show) {
          cacheStrokeFill(i4, false);
          cacheStrokeFill(i4, true);
          if (s4._paths == null) {
            let _ctxAlpha = ctxAlpha;
            if (ctxAlpha != s4.alpha)
              ctx.globalAlpha = ctxAlpha = s4.alpha;
            let _idxs = mode == 2 ? [0, data[i4][0].length - 1] : getOuterIdxs(data[i4]);
            s4._paths = s4.paths(self, i4, _idxs[0], _idxs[1]);
            if (ctxAlpha != _ctxAlpha)
              ctx.globalAlpha = ctxAlpha = _ctxAlpha;
          }
        }
      });
      series.forEach((s4, i4) => {
        if (i4 > 0 && s4.show) {
          let _ctxAlpha = ctxAlpha;
          if (ctxAlpha != s4.alpha)
            ctx.globalAlpha = ctxAlpha = s4.alpha;
          s4._paths != null && drawPath(i4, false);
          {
            let _gaps = s4._paths != null ? s4._paths.gaps : null;
            let show = s4.points.show(self, i4, i0, i1, _gaps);
            let idxs2 = s4.points.filter(self, i4, show, _gaps);
            if (show || idxs2) {
              s4.points._paths = s4.points.paths(self, i4, i0, i1, idxs2);
              drawPath(i4, true);
            }
          }
          if (ctxAlpha != _ctxAlpha)
            ctx.globalAlpha = ctxAlpha = _ctxAlpha;
          fire("drawSeries", i4);
        }
      });
      if (shouldAlpha)
        ctx.globalAlpha = ctxAlpha = 1;
    }
  }
  function cacheStrokeFill(si, _points) {
    let s4 = _points ? series[si].points : series[si];
    s4._stroke = s4.stroke(self, si);
    s4._fill = s4.fill(self, si);
  }
  function drawPath(si, _points) {
    let s4 = _points ? series[si].points : series[si];
    let {
      stroke: stroke2,
      fill,
      clip: gapsClip,
      flags,
      _stroke: strokeStyle = s4._stroke,
      _fill: fillStyle = s4._fill,
      _width: width = s4.width
    } = s4._paths;
    width = roundDec(width * pxRatio, 3);
    let boundsClip = null;
    let offset = width % 2 / 2;
    if (_points && fillStyle == null)
      fillStyle = width > 0 ? "#fff" : strokeStyle;
    let _pxAlign = s4.pxAlign == 1 && offset > 0;
    _pxAlign && ctx.translate(offset, offset);
    if (!_points) {
      let lft = plotLft - width / 2, top = plotTop - width / 2, wid = plotWid + width, hgt = plotHgt + width;
      boundsClip = new Path2D();
      boundsClip.rect(lft, top, wid, hgt);
    }
    if (_points)
      strokeFill(strokeStyle, width, s4.dash, s4.cap, fillStyle, stroke2, fill, flags, gapsClip);
    else
      fillStroke(si, strokeStyle, width, s4.dash, s4.cap, fillStyle, stroke2, fill, flags, boundsClip, gapsClip);
    _pxAlign && ctx.translate(-offset, -offset);
  }
  function fillStroke(si, strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip) {
    let didStrokeFill = false;
    flags != 0 && bands.forEach((b3, bi) => {
      if (b3.series[0] == si) {
        let lowerEdge = series[b3.series[1]];
        let lowerData = data[b3.series[1]];
        let bandClip = (lowerEdge._paths || EMPTY_OBJ).band;
        if (isArr(bandClip))
          bandClip = b3.dir == 1 ? bandClip[0] : bandClip[1];
        let gapsClip2;
        let _fillStyle = null;
        if (lowerEdge.show && bandClip && hasData(lowerData, i0, i1)) {
          _fillStyle = b3.fill(self, bi) || fillStyle;
          gapsClip2 = lowerEdge._paths.clip;
        } else
          bandClip = null;
        strokeFill(strokeStyle, lineWidth, lineDash, lineCap, _fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip, gapsClip2, bandClip);
        didStrokeFill = true;
      }
    });
    if (!didStrokeFill)
      strokeFill(strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip);
  }
  const CLIP_FILL_STROKE = BAND_CLIP_FILL | BAND_CLIP_STROKE;
  function strokeFill(strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip, gapsClip2, bandClip) {
    setCtxStyle(strokeStyle, lineWidth, lineDash, lineCap, fillStyle);
    if (boundsClip || gapsClip || bandClip) {
      ctx.save();
      boundsClip && ctx.clip(boundsClip);
      gapsClip && ctx.clip(gapsClip);
    }
    if (bandClip) {
      if ((flags & CLIP_FILL_STROKE) == CLIP_FILL_STROKE) {
        ctx.clip(bandClip);
        gapsClip2 && ctx.clip(gapsClip2);
        doFill(fillStyle, fillPath);
        doStroke(strokeStyle, strokePath, lineWidth);
      } else if (flags & BAND_CLIP_STROKE) {
        doFill(fillStyle, fillPath);
        ctx.clip(bandClip);
        doStroke(strokeStyle, strokePath, lineWidth);
      } else if (flags & BAND_CLIP_FILL) {
        ctx.save();
        ctx.clip(bandClip);
        gapsClip2 && ctx.clip(gapsClip2);
        doFill(fillStyle, fillPath);
        ctx.restore();
        doStroke(strokeStyle, strokePath, lineWidth);
      }
    } else {
      doFill(fillStyle, fillPath);
      doStroke(strokeStyle, strokePath, lineWidth);
    }
    if (boundsClip || gapsClip || bandClip)
      ctx.restore();
  }
  function doStroke(strokeStyle, strokePath, lineWidth) {
    if (lineWidth > 0) {
      if (strokePath instanceof Map) {
        strokePath.forEach((strokePath2, strokeStyle2) => {
          ctx.strokeStyle = ctxStroke = strokeStyle2;
          ctx.stroke(strokePath2);
        });
      } else
        strokePath != null && strokeStyle && ctx.stroke(strokePath);
    }
  }
  function doFill(fillStyle, fillPath) {
    if (fillPath instanceof Map) {
      fillPath.forEach((fillPath2, fillStyle2) => {
        ctx.fillStyle = ctxFill = fillStyle2;
        ctx.fill(fillPath2);
      });
    } else
      fillPath != null && fillStyle && ctx.fill(fillPath);
  }
  function getIncrSpace(axisIdx, min2, max2, fullDim) {
    let axis = axes[axisIdx];
    let incrSpace;
    if (fullDim <= 0)
      incrSpace = [0, 0];
    else {
      let minSpace = axis._space = axis.space(self, axisIdx, min2, max2, fullDim);
      let incrs = axis._incrs = axis.incrs(self, axisIdx, min2, max2, fullDim, minSpace);
      incrSpace = findIncr(min2, max2, incrs, fullDim, minSpace);
    }
    return axis._found = incrSpace;
  }
  function drawOrthoLines(offs, filts, ori, side, pos0, len, width, stroke2, dash, cap) {
    let offset = width % 2 / 2;
    pxAlign == 1 && ctx.translate(offset, offset);
    setCtxStyle(stroke2, width, dash, cap, stroke2);
    ctx.beginPath();
    let x0, y0, x1, y1, pos1 = pos0 + (side == 0 || side == 3 ? -len : len);
    if (ori == 0) {
      y0 = pos0;
      y1 = pos1;
    } else {
      x0 = pos0;
      x1 = pos1;
    }
    for (let i4 = 0; i4 < offs.length; i4++) {
      if (filts[i4] != null) {
        if (ori == 0)
          x0 = x1 = offs[i4];
        else
          y0 = y1 = offs[i4];
        ctx.moveTo(x0, y0);
        ctx.lineTo(x1, y1);
      }
    }
    ctx.stroke();
    pxAlign == 1 && ctx.translate(-offset, -offset);
  }
  function axesCalc(cycleNum) {
    let converged = true;
    axes.forEach((axis, i4) => {
      if (!axis.show)
        return;
      let scale = scales[axis.scale];
      if (scale.min == null) {
        if (axis._show) {
          converged = false;
          axis._show = false;
          resetYSeries(false);
        }
        return;
      } else {
        if (!axis._show) {
          converged = false;
          axis._show = true;
          resetYSeries(false);
        }
      }
      let side = axis.side;
      let ori = side % 2;
      let { min: min2, max: max2 } = scale;
      let [_incr, _space] = getIncrSpace(i4, min2, max2, ori == 0 ? plotWidCss : plotHgtCss);
      if (_space == 0)
        return;
      let forceMin = scale.distr == 2;
      let _splits = axis._splits = axis.splits(self, i4, min2, max2, _incr, _space, forceMin);
      let splits = scale.distr == 2 ? _splits.map((i5) => data0[i5]) : _splits;
      let incr = scale.distr == 2 ? data0[_splits[1]] - data0[_splits[0]] : _incr;
      let values = axis._values = axis.values(self, axis.filter(self, splits, i4, _space, incr), i4, _space, incr);
      axis._rotate = side == 2 ? axis.rotate(self, values, i4, _space) : 0;
      let oldSize = axis._size;
      axis._size = ceil(axis.size(self, values, i4, cycleNum));
      if (oldSize != null && axis._size != oldSize)
        converged = false;
    });
    return converged;
  }
  function paddingCalc(cycleNum) {
    let converged = true;
    padding.forEach((p5, i4) => {
      let _p = p5(self, i4, sidesWithAxes, cycleNum);
      if (_p != _padding[i4])
        converged = false;
      _padding[i4] = _p;
    });
    return converged;
  }
  function drawAxesGrid() {
    for (let i4 = 0; i4 < axes.length; i4++) {
      let axis = axes[i4];
      if (!axis.show || !axis._show)
        continue;
      let side = axis.side;
      let ori = side % 2;
      let x3, y5;
      let fillStyle = axis.stroke(self, i4);
      let shiftDir = side == 0 || side == 3 ? -1 : 1;
      let [_incr, _space] = axis._found;
      if (axis.label != null) {
        let shiftAmt2 = axis.labelGap * shiftDir;
        let baseLpos = round((axis._lpos + shiftAmt2) * pxRatio);
        setFontStyle(axis.labelFont[0], fillStyle, "center", side == 2 ? TOP : BOTTOM);
        ctx.save();
        if (ori == 1) {
          x3 = y5 = 0;
          ctx.translate(
            baseLpos,
            round(plotTop + plotHgt / 2)
          );
          ctx.rotate((side == 3 ? -PI : PI) / 2);
        } else {
          x3 = round(plotLft + plotWid / 2);
          y5 = baseLpos;
        }
        let _label = isFn(axis.label) ? axis.label(self, i4, _incr, _space) : axis.label;
        ctx.fillText(_label, x3, y5);
        ctx.restore();
      }
      if (_space == 0)
        continue;
      let scale = scales[axis.scale];
      let plotDim = ori == 0 ? plotWid : plotHgt;
      let plotOff = ori == 0 ? plotLft : plotTop;
      let _splits = axis._splits;
      let splits = scale.distr == 2 ? _splits.map((i5) => data0[i5]) : _splits;
      let incr = scale.distr == 2 ? data0[_splits[1]] - data0[_splits[0]] : _incr;
      let ticks2 = axis.ticks;
      let border2 = axis.border;
      let _tickSize = ticks2.show ? ticks2.size : 0;
      let tickSize = round(_tickSize * pxRatio);
      let axisGap = round((axis.alignTo == 2 ? axis._size - _tickSize - axis.gap : axis.gap) * pxRatio);
      let angle = axis._rotate * -PI / 180;
      let basePos = pxRound(axis._pos * pxRatio);
      let shiftAmt = (tickSize + axisGap) * shiftDir;
      let finalPos = basePos + shiftAmt;
      y5 = ori == 0 ? finalPos : 0;
      x3 = ori == 1 ? finalPos : 0;
      let font2 = axis.font[0];
      let textAlign = axis.align == 1 ? LEFT : axis.align == 2 ? RIGHT : angle > 0 ? LEFT : angle < 0 ? RIGHT : ori == 0 ? "center" : side == 3 ? RIGHT : LEFT;
      let textBaseline = angle || ori == 1 ? "middle" : side == 2 ? TOP : BOTTOM;
      setFontStyle(font2, fillStyle, textAlign, textBaseline);
      let lineHeight = axis.font[1] * axis.lineGap;
      let canOffs = _splits.map((val) => pxRound(getPos(val, scale, plotDim, plotOff)));
      let _values = axis._values;
      for (let i5 = 0; i5 < _values.length; i5++) {
        let val = _values[i5];
        if (val != null) {
          if (ori == 0)
            x3 = canOffs[i5];
          else
            y5 = canOffs[i5];
          val = "" + val;
          let _parts = val.indexOf("\n") == -1 ? [val] : val.split(/\n/gm);
          for (let j3 = 0; j3 < _parts.length; j3++) {
            let text = _parts[j3];
            if (angle) {
              ctx.save();
              ctx.translate(x3, y5 + j3 * lineHeight);
              ctx.rotate(angle);
              ctx.fillText(text, 0, 0);
              ctx.restore();
            } else
              ctx.fillText(text, x3, y5 + j3 * lineHeight);
          }
        }
      }
      if (ticks2.show) {
        drawOrthoLines(
          canOffs,
          ticks2.filter(self, splits, i4, _space, incr),
          ori,
          side,
          basePos,
          tickSize,
          roundDec(ticks2.width * pxRatio, 3),
          ticks2.stroke(self, i4),
          ticks2.dash,
          ticks2.cap
        );
      }
      let grid2 = axis.grid;
      if (grid2.show) {
        drawOrthoLines(
          canOffs,
          grid2.filter(self, splits, i4, _space, incr),
          ori,
          ori == 0 ? 2 : 1,
          ori == 0 ? plotTop : plotLft,
          ori == 0 ? plotHgt : plotWid,
          roundDec(grid2.width * pxRatio, 3),
          grid2.stroke(self, i4),
          grid2.dash,
          grid2.cap
        );
      }
      if (border2.show) {
        drawOrthoLines(
          [basePos],
          [1],
          ori == 0 ? 1 : 0,
          ori == 0 ? 1 : 2,
          ori == 1 ? plotTop : plotLft,
          ori == 1 ? plotHgt : plotWid,
          roundDec(border2.width * pxRatio, 3),
          border2.stroke(self, i4),
          border2.dash,
          border2.cap
        );
      }
    }
    fire("drawAxes");
  }
  function resetYSeries(minMax) {
    series.forEach((s4, i4) => {
      if (i4 > 0) {
        s4._paths = null;
        if (minMax) {
          if (mode == 1) {
            s4.min = null;
            s4.max = null;
          } else {
            s4.facets.forEach((f5) => {
              f5.min = null;
              f5.max = null;
            });
          }
        }
      }
    });
  }
  let queuedCommit = false;
  let deferHooks = false;
  let hooksQueue = [];
  function flushHooks() {
    deferHooks = false;
    for (let i4 = 0; i4 < hooksQueue.length; i4++)
      fire(...hooksQueue[i4]);
    hooksQueue.length = 0;
  }
  function commit() {
    if (!queuedCommit) {
      microTask(_commit);
      queuedCommit = true;
    }
  }
  function batch(fn, _deferHooks = false) {
    queuedCommit = true;
    deferHooks = _deferHooks;
    fn(self);
    _commit();
    if (_deferHooks && hooksQueue.length > 0)
      queueMicrotask(flushHooks);
  }
  self.batch = batch;
  function _commit() {
    if (shouldSetScales) {
      setScales();
      shouldSetScales = false;
    }
    if (shouldConvergeSize) {
      convergeSize();
      shouldConvergeSize = false;
    }
    if (shouldSetSize) {
      setStylePx(under, LEFT, plotLftCss);
      setStylePx(under, TOP, plotTopCss);
      setStylePx(under, WIDTH, plotWidCss);
      setStylePx(under, HEIGHT2, plotHgtCss);
      setStylePx(over, LEFT, plotLftCss);
      setStylePx(over, TOP, plotTopCss);
      setStylePx(over, WIDTH, plotWidCss);
      setStylePx(over, HEIGHT2, plotHgtCss);
      setStylePx(wrap, WIDTH, fullWidCss);
      setStylePx(wrap, HEIGHT2, fullHgtCss);
      can.width = round(fullWidCss * pxRatio);
      can.height = round(fullHgtCss * pxRatio);
      axes.forEach(({ _el, _show, _size, _pos, side }) => {
        if (_el != null) {
          if (_show) {
            let posOffset = side === 3 || side === 0 ? _size : 0;
            let isVt = side % 2 == 1;
            setStylePx(_el, isVt ? "left" : "top", _pos - posOffset);
            setStylePx(_el, isVt ? "width" : "height", _size);
            setStylePx(_el, isVt ? "top" : "left", isVt ? plotTopCss : plotLftCss);
            setStylePx(_el, isVt ? "height" : "width", isVt ? plotHgtCss : plotWidCss);
            remClass(_el, OFF);
          } else
            addClass(_el, OFF);
        }
      });
      ctxStroke = ctxFill = ctxWidth = ctxJoin = ctxCap = ctxFont = ctxAlign = ctxBaseline = ctxDash = null;
      ctxAlpha = 1;
      syncRect(true);
      if (plotLftCss != _plotLftCss || plotTopCss != _plotTopCss || plotWidCss != _plotWidCss || plotHgtCss != _plotHgtCss) {
        resetYSeries(false);
        let pctWid = plotWidCss / _plotWidCss;
        let pctHgt = plotHgtCss / _plotHgtCss;
        if (showCursor && !shouldSetCursor && cursor.left >= 0) {
          cursor.left *= pctWid;
          cursor.top *= pctHgt;
          vCursor && elTrans(vCursor, round(cursor.left), 0, plotWidCss, plotHgtCss);
          hCursor && elTrans(hCursor, 0, round(cursor.top), plotWidCss, plotHgtCss);
          for (let i4 = 0; i4 < cursorPts.length; i4++) {
            let pt = cursorPts[i4];
            if (pt != null) {
              cursorPtsLft[i4] *= pctWid;
              cursorPtsTop[i4] *= pctHgt;
              elTrans(pt, ceil(cursorPtsLft[i4]), ceil(cursorPtsTop[i4]), plotWidCss, plotHgtCss);
            }
          }
        }
        if (select.show && !shouldSetSelect && select.left >= 0 && select.width > 0) {
          select.left *= pctWid;
          select.width *= pctWid;
          select.top *= pctHgt;
          select.height *= pctHgt;
          for (let prop in _hideProps)
            setStylePx(selectDiv, prop, select[prop]);
        }
        _plotLftCss = plotLftCss;
        _plotTopCss = plotTopCss;
        _plotWidCss = plotWidCss;
        _plotHgtCss = plotHgtCss;
      }
      fire("setSize");
      shouldSetSize = false;
    }
    if (fullWidCss > 0 && fullHgtCss > 0) {
      ctx.clearRect(0, 0, can.width, can.height);
      fire("drawClear");
      drawOrder.forEach((fn) => fn());
      fire("draw");
    }
    if (select.show && shouldSetSelect) {
      setSelect(select);
      shouldSetSelect = false;
    }
    if (showCursor && shouldSetCursor) {
      updateCursor(null, true, false);
      shouldSetCursor = false;
    }
    if (legend.show && legend.live && shouldSetLegend) {
      setLegend();
      shouldSetLegend = false;
    }
    if (!ready) {
      ready = true;
      self.status = 1;
      fire("ready");
    }
    viaAutoScaleX = false;
    queuedCommit = false;
  }
  self.redraw = (rebuildPaths, recalcAxes) => {
    shouldConvergeSize = recalcAxes || false;
    if (rebuildPaths !== false)
      _setScale(xScaleKey, scaleX.min, scaleX.max);
    else
      commit();
  };
  function setScale(key2, opts2) {
    let sc = scales[key2];
    if (sc.from == null) {
      if (dataLen == 0) {
        let minMax = sc.range(self, opts2.min, opts2.max, key2);
        opts2.min = minMax[0];
        opts2.max = minMax[1];
      }
      if (opts2.min > opts2.max) {
        let _min = opts2.min;
        opts2.min = opts2.max;
        opts2.max = _min;
      }
      if (dataLen > 1 && opts2.min != null && opts2.max != null && opts2.max - opts2.min < 1e-16)
        return;
      if (key2 == xScaleKey) {
        if (sc.distr == 2 && dataLen > 0) {
          opts2.min = closestIdx(opts2.min, data[0]);
          opts2.max = closestIdx(opts2.max, data[0]);
          if (opts2.min == opts2.max)
            opts2.max++;
        }
      }
      pendScales[key2] = opts2;
      shouldSetScales = true;
      commit();
    }
  }
  self.setScale = setScale;
  let xCursor;
  let yCursor;
  let vCursor;
  let hCursor;
  let rawMouseLeft0;
  let rawMouseTop0;
  let mouseLeft0;
  let mouseTop0;
  let rawMouseLeft1;
  let rawMouseTop1;
  let mouseLeft1;
  let mouseTop1;
  let dragging = false;
  const drag = cursor.drag;
  let dragX = drag.x;
  let dragY = drag.y;
  if (showCursor) {
    if (cursor.x)
      xCursor = placeDiv(CURSOR_X, over);
    if (cursor.y)
      yCursor = placeDiv(CURSOR_Y, over);
    if (scaleX.ori == 0) {
      vCursor = xCursor;
      hCursor = yCursor;
    } else {
      vCursor = yCursor;
      hCursor = xCursor;
    }
    mouseLeft1 = cursor.left;
    mouseTop1 = cursor.top;
  }
  const select = self.select = assign({
    show: true,
    over: true,
    left: 0,
    width: 0,
    top: 0,
    height: 0
  }, opts.select);
  const selectDiv = select.show ? placeDiv(SELECT, select.over ? over : under) : null;
  function setSelect(opts2, _fire) {
    if (select.show) {
      for (let prop in opts2) {
        select[prop] = opts2[prop];
        if (prop in _hideProps)
          setStylePx(selectDiv, prop, opts2[prop]);
      }
      _fire !== false && fire("setSelect");
    }
  }
  self.setSelect = setSelect;
  function toggleDOM(i4) {
    let s4 = series[i4];
    if (s4.show)
      showLegend && remClass(legendRows[i4], OFF);
    else {
      showLegend && addClass(legendRows[i4], OFF);
      if (showCursor) {
        let pt = cursorOnePt ? cursorPts[0] : cursorPts[i4];
        pt != null && elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
      }
    }
  }
  function _setScale(key2, min2, max2) {
    setScale(key2, { min: min2, max: max2 });
  }
  function setSeries(i4, opts2, _fire, _pub) {
    if (opts2.focus != null)
      setFocus(i4);
    if (opts2.show != null) {
      series.forEach((s4, si) => {
        if (si > 0 && (i4 == si || i4 == null)) {
          s4.show = opts2.show;
          toggleDOM(si);
          if (mode == 2) {
            _setScale(s4.facets[0].scale, null, null);
            _setScale(s4.facets[1].scale, null, null);
          } else
            _setScale(s4.scale, null, null);
          commit();
        }
      });
    }
    _fire !== false && fire("setSeries", i4, opts2);
    _pub && pubSync("setSeries", self, i4, opts2);
  }
  self.setSeries = setSeries;
  function setBand(bi, opts2) {
    assign(bands[bi], opts2);
  }
  function addBand(opts2, bi) {
    opts2.fill = fnOrSelf(opts2.fill || null);
    opts2.dir = ifNull(opts2.dir, -1);
    bi = bi == null ? bands.length : bi;
    bands.splice(bi, 0, opts2);
  }
  function delBand(bi) {
    if (bi == null)
      bands.length = 0;
    else
      bands.splice(bi, 1);
  }
  self.addBand = addBand;
  self.setBand = setBand;
  self.delBand = delBand;
  function setAlpha(i4, value) {
    series[i4].alpha = value;
    if (showCursor && cursorPts[i4] != null)
      cursorPts[i4].style.opacity = value;
    if (showLegend && legendRows[i4])
      legendRows[i4].style.opacity = value;
  }
  let closestDist;
  let closestSeries;
  let focusedSeries;
  const FOCUS_TRUE = { focus: true };
  function setFocus(i4) {
    if (i4 != focusedSeries) {
      let allFocused = i4 == null;
      let _setAlpha = focus.alpha != 1;
      series.forEach((s4, i22) => {
        if (mode == 1 || i22 > 0) {
          let isFocused = allFocused || i22 == 0 || i22 == i4;
          s4._focus = allFocused ? null : isFocused;
          _setAlpha && setAlpha(i22, isFocused ? 1 : focus.alpha);
        }
      });
      focusedSeries = i4;
      _setAlpha && commit();
    }
  }
  if (showLegend && cursorFocus) {
    onMouse(mouseleave, legendTable, (e4) => {
      if (cursor._lock)
        return;
      setCursorEvent(e4);
      if (focusedSeries != null)
        setSeries(null, FOCUS_TRUE, true, syncOpts.setSeries);
    });
  }
  function posToVal(pos, scale, can2) {
    let sc = scales[scale];
    if (can2)
      pos = pos / pxRatio - (sc.ori == 1 ? plotTopCss : plotLftCss);
    let dim = plotWidCss;
    if (sc.ori == 1) {
      dim = plotHgtCss;
      pos = dim - pos;
    }
    if (sc.dir == -1)
      pos = dim - pos;
    let _min = sc._min, _max = sc._max, pct = pos / dim;
    let sv = _min + (_max - _min) * pct;
    let distr = sc.distr;
    return distr == 3 ? pow(10, sv) : distr == 4 ? sinh(sv, sc.asinh) : distr == 100 ? sc.bwd(sv) : sv;
  }
  function closestIdxFromXpos(pos, can2) {
    let v4 = posToVal(pos, xScaleKey, can2);
    return closestIdx(v4, data[0], i0, i1);
  }
  self.valToIdx = (val) => closestIdx(val, data[0]);
  self.posToIdx = closestIdxFromXpos;
  self.posToVal = posToVal;
  self.valToPos = (val, scale, can2) => scales[scale].ori == 0 ? getHPos(
    val,
    scales[scale],
    can2 ? plotWid : plotWidCss,
    can2 ? plotLft : 0
  ) : getVPos(
    val,
    scales[scale],
    can2 ? plotHgt : plotHgtCss,
    can2 ? plotTop : 0
  );
  self.setCursor = (opts2, _fire, _pub) => {
    mouseLeft1 = opts2.left;
    mouseTop1 = opts2.top;
    updateCursor(null, _fire, _pub);
  };
  function setSelH(off2, dim) {
    setStylePx(selectDiv, LEFT, select.left = off2);
    setStylePx(selectDiv, WIDTH, select.width = dim);
  }
  function setSelV(off2, dim) {
    setStylePx(selectDiv, TOP, select.top = off2);
    setStylePx(selectDiv, HEIGHT2, select.height = dim);
  }
  let setSelX = scaleX.ori == 0 ? setSelH : setSelV;
  let setSelY = scaleX.ori == 1 ? setSelH : setSelV;
  function syncLegend() {
    if (showLegend && legend.live) {
      for (let i4 = mode == 2 ? 1 : 0; i4 < series.length; i4++) {
        if (i4 == 0 && multiValLegend)
          continue;
        let vals = legend.values[i4];
        let j3 = 0;
        for (let k4 in vals)
          legendCells[i4][j3++].firstChild.nodeValue = vals[k4];
      }
    }
  }
  function setLegend(opts2, _fire) {
    if (opts2 != null) {
      if (opts2.idxs) {
        opts2.idxs.forEach((didx, sidx) => {
          activeIdxs[sidx] = didx;
        });
      } else if (!isUndef(opts2.idx))
        activeIdxs.fill(opts2.idx);
      legend.idx = activeIdxs[0];
    }
    if (showLegend && legend.live) {
      for (let sidx = 0; sidx < series.length; sidx++) {
        if (sidx > 0 || mode == 1 && !multiValLegend)
          setLegendValues(sidx, activeIdxs[sidx]);
      }
      syncLegend();
    }
    shouldSetLegend = false;
    _fire !== false && fire("setLegend");
  }
  self.setLegend = setLegend;
  function setLegendValues(sidx, idx) {
    let s4 = series[sidx];
    let src = sidx == 0 && xScaleDistr == 2 ? data0 : data[sidx];
    let val;
    if (multiValLegend)
      val = s4.values(self, sidx, idx) ?? NULL_LEGEND_VALUES;
    else {
      val = s4.value(self, idx == null ? null : src[idx], sidx, idx);
      val = val == null ? NULL_LEGEND_VALUES : { _: val };
    }
    legend.values[sidx] = val;
  }
  function updateCursor(src, _fire, _pub) {
    rawMouseLeft1 = mouseLeft1;
    rawMouseTop1 = mouseTop1;
    [mouseLeft1, mouseTop1] = cursor.move(self, mouseLeft1, mouseTop1);
    cursor.left = mouseLeft1;
    cursor.top = mouseTop1;
    if (showCursor) {
      vCursor && elTrans(vCursor, round(mouseLeft1), 0, plotWidCss, plotHgtCss);
      hCursor && elTrans(hCursor, 0, round(mouseTop1), plotWidCss, plotHgtCss);
    }
    let idx;
    let noDataInRange = i0 > i1;
    closestDist = inf;
    closestSeries = null;
    let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss;
    let yDim = scaleX.ori == 1 ? plotWidCss : plotHgtCss;
    if (mouseLeft1 < 0 || dataLen == 0 || noDataInRange) {
      idx = cursor.idx = null;
      for (let i4 = 0; i4 < series.length; i4++) {
        let pt = cursorPts[i4];
        pt != null && elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
      }
      if (cursorFocus)
        setSeries(null, FOCUS_TRUE, true, src == null && syncOpts.setSeries);
      if (legend.live) {
        activeIdxs.fill(idx);
        shouldSetLegend = true;
      }
    } else {
      let mouseXPos, valAtPosX, xPos;
      if (mode == 1) {
        mouseXPos = scaleX.ori == 0 ? mouseLeft1 : mouseTop1;
        valAtPosX = posToVal(mouseXPos, xScaleKey);
        idx = cursor.idx = closestIdx(valAtPosX, data[0], i0, i1);
        xPos = valToPosX(data[0][idx], scaleX, xDim, 0);
      }
      let _ptLft = -10;
      let _ptTop = -10;
      let _ptWid = 0;
      let _ptHgt = 0;
      let _centered = true;
      let _ptFill = "";
      let _ptStroke = "";
      for (let i4 = mode == 2 ? 1 : 0; i4 < series.length; i4++) {
        let s4 = series[i4];
        let idx1 = activeIdxs[i4];
        let yVal1 = idx1 == null ? null : mode == 1 ? data[i4][idx1] : data[i4][1][idx1];
        let idx2 = cursor.dataIdx(self, i4, idx, valAtPosX);
        let yVal2 = idx2 == null ? null : mode == 1 ? data[i4][idx2] : data[i4][1][idx2];
        shouldSetLegend = shouldSetLegend || yVal2 != yVal1 || idx2 != idx1;
        activeIdxs[i4] = idx2;
        if (i4 > 0 && s4.show) {
          let xPos2 = idx2 == null ? -10 : idx2 == idx ? xPos : valToPosX(mode == 1 ? data[0][idx2] : data[i4][0][idx2], scaleX, xDim, 0);
          let yPos = yVal2 == null ? -10 : valToPosY(yVal2, mode == 1 ? scales[s4.scale] : scales[s4.facets[1].scale], yDim, 0);
          if (cursorFocus && yVal2 != null) {
            let mouseYPos = scaleX.ori == 1 ? mouseLeft1 : mouseTop1;
            let dist = abs(focus.dist(self, i4, idx2, yPos, mouseYPos));
            if (dist < closestDist) {
              let bias = focus.bias;
              if (bias != 0) {
                let mouseYVal = posToVal(mouseYPos, s4.scale);
                let seriesYValSign = yVal2 >= 0 ? 1 : -1;
                let mouseYValSign = mouseYVal >= 0 ? 1 : -1;
                if (mouseYValSign == seriesYValSign && (mouseYValSign == 1 ? bias == 1 ? yVal2 >= mouseYVal : yVal2 <= mouseYVal : (
                  // >= 0
                  bias == 1 ? yVal2 <= mouseYVal : yVal2 >= mouseYVal
                ))) {
                  closestDist = dist;
                  closestSeries = i4;
                }
              } else {
                closestDist = dist;
                closestSeries = i4;
              }
            }
          }
          if (shouldSetLegend || cursorOnePt) {
            let hPos, vPos;
            if (scaleX.ori == 0) {
              hPos = xPos2;
              vPos = yPos;
            } else {
              hPos = yPos;
              vPos = xPos2;
            }
            let ptWid, ptHgt, ptLft, ptTop, ptStroke, ptFill, centered = true, getBBox = points2.bbox;
            if (getBBox != null) {
              centered = false;
              let bbox = getBBox(self, i4);
              ptLft = bbox.left;
              ptTop = bbox.top;
              ptWid = bbox.width;
              ptHgt = bbox.height;
            } else {
              ptLft = hPos;
              ptTop = vPos;
              ptWid = ptHgt = points2.size(self, i4);
            }
            ptFill = points2.fill(self, i4);
            ptStroke = points2.stroke(self, i4);
            if (cursorOnePt) {
              if (i4 == closestSeries && closestDist <= focus.prox) {
                _ptLft = ptLft;
                _ptTop = ptTop;
                _ptWid = ptWid;
                _ptHgt = ptHgt;
                _centered = centered;
                _ptFill = ptFill;
                _ptStroke = ptStroke;
              }
            } else {
              let pt = cursorPts[i4];
              if (pt != null) {
                cursorPtsLft[i4] = ptLft;
                cursorPtsTop[i4] = ptTop;
                elSize(pt, ptWid, ptHgt, centered);
                elColor(pt, ptFill, ptStroke);
                elTrans(pt, ceil(ptLft), ceil(ptTop), plotWidCss, plotHgtCss);
              }
            }
          }
        }
      }
      if (cursorOnePt) {
        let p5 = focus.prox;
        let focusChanged = focusedSeries == null ? closestDist <= p5 : closestDist > p5 || closestSeries != focusedSeries;
        if (shouldSetLegend || focusChanged) {
          let pt = cursorPts[0];
          if (pt != null) {
            cursorPtsLft[0] = _ptLft;
            cursorPtsTop[0] = _ptTop;
            elSize(pt, _ptWid, _ptHgt, _centered);
            elColor(pt, _ptFill, _ptStroke);
            elTrans(pt, ceil(_ptLft), ceil(_ptTop), plotWidCss, plotHgtCss);
          }
        }
      }
    }
    if (select.show && dragging) {
      if (src != null) {
        let [xKey, yKey] = syncOpts.scales;
        let [matchXKeys, matchYKeys] = syncOpts.match;
        let [xKeySrc, yKeySrc] = src.cursor.sync.scales;
        let sdrag = src.cursor.drag;
        dragX = sdrag._x;
        dragY = sdrag._y;
        if (dragX || dragY) {
          let { left, top, width, height } = src.select;
          let sori = src.scales[xKeySrc].ori;
          let sPosToVal = src.posToVal;
          let sOff, sDim, sc, a5, b3;
          let matchingX = xKey != null && matchXKeys(xKey, xKeySrc);
          let matchingY = yKey != null && matchYKeys(yKey, yKeySrc);
          if (matchingX && dragX) {
            if (sori == 0) {
              sOff = left;
              sDim = width;
            } else {
              sOff = top;
              sDim = height;
            }
            sc = scales[xKey];
            a5 = valToPosX(sPosToVal(sOff, xKeySrc), sc, xDim, 0);
            b3 = valToPosX(sPosToVal(sOff + sDim, xKeySrc), sc, xDim, 0);
            setSelX(min(a5, b3), abs(b3 - a5));
          } else
            setSelX(0, xDim);
          if (matchingY && dragY) {
            if (sori == 1) {
              sOff = left;
              sDim = width;
            } else {
              sOff = top;
              sDim = height;
            }
            sc = scales[yKey];
            a5 = valToPosY(sPosToVal(sOff, yKeySrc), sc, yDim, 0);
            b3 = valToPosY(sPosToVal(sOff + sDim, yKeySrc), sc, yDim, 0);
            setSelY(min(a5, b3), abs(b3 - a5));
          } else
            setSelY(0, yDim);
        } else
          hideSelect();
      } else {
        let rawDX = abs(rawMouseLeft1 - rawMouseLeft0);
        let rawDY = abs(rawMouseTop1 - rawMouseTop0);
        if (scaleX.ori == 1) {
          let _rawDX = rawDX;
          rawDX = rawDY;
          rawDY = _rawDX;
        }
        dragX = drag.x && rawDX >= drag.dist;
        dragY = drag.y && rawDY >= drag.dist;
        let uni = drag.uni;
        if (uni != null) {
          if (dragX && dragY) {
            dragX = rawDX >= uni;
            dragY = rawDY >= uni;
            if (!dragX && !dragY) {
              if (rawDY > rawDX)
                dragY = true;
              else
                dragX = true;
            }
          }
        } else if (drag.x && drag.y && (dragX || dragY))
          dragX = dragY = true;
        let p0, p1;
        if (dragX) {
          if (scaleX.ori == 0) {
            p0 = mouseLeft0;
            p1 = mouseLeft1;
          } else {
            p0 = mouseTop0;
            p1 = mouseTop1;
          }
          setSelX(min(p0, p1), abs(p1 - p0));
          if (!dragY)
            setSelY(0, yDim);
        }
        if (dragY) {
          if (scaleX.ori == 1) {
            p0 = mouseLeft0;
            p1 = mouseLeft1;
          } else {
            p0 = mouseTop0;
            p1 = mouseTop1;
          }
          setSelY(min(p0, p1), abs(p1 - p0));
          if (!dragX)
            setSelX(0, xDim);
        }
        if (!dragX && !dragY) {
          setSelX(0, 0);
          setSelY(0, 0);
        }
      }
    }
    drag._x = dragX;
    drag._y = dragY;
    if (src == null) {
      if (_pub) {
        if (syncKey != null) {
          let [xSyncKey, ySyncKey] = syncOpts.scales;
          syncOpts.values[0] = xSyncKey != null ? posToVal(scaleX.ori == 0 ? mouseLeft1 : mouseTop1, xSyncKey) : null;
          syncOpts.values[1] = ySyncKey != null ? posToVal(scaleX.ori == 1 ? mouseLeft1 : mouseTop1, ySyncKey) : null;
        }
        pubSync(mousemove, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, idx);
      }
      if (cursorFocus) {
        let shouldPub = _pub && syncOpts.setSeries;
        let p5 = focus.prox;
        if (focusedSeries == null) {
          if (closestDist <= p5)
            setSeries(closestSeries, FOCUS_TRUE, true, shouldPub);
        } else {
          if (closestDist > p5)
            setSeries(null, FOCUS_TRUE, true, shouldPub);
          else if (closestSeries != focusedSeries)
            setSeries(closestSeries, FOCUS_TRUE, true, shouldPub);
        }
      }
    }
    if (shouldSetLegend) {
      legend.idx = idx;
      setLegend();
    }
    _fire !== false && fire("setCursor");
  }
  let rect2 = null;
  Object.defineProperty(self, "rect", {
    get() {
      if (rect2 == null)
        syncRect(false);
      return rect2;
    }
  });
  function syncRect(defer = false) {
    if (defer)
      rect2 = null;
    else {
      rect2 = over.getBoundingClientRect();
      fire("syncRect", rect2);
    }
  }
  function mouseMove(e4, src, _l, _t, _w, _h, _i) {
    if (cursor._lock)
      return;
    if (dragging && e4 != null && e4.movementX == 0 && e4.movementY == 0)
      return;
    cacheMouse(e4, src, _l, _t, _w, _h, _i, false, e4 != null);
    if (e4 != null)
      updateCursor(null, true, true);
    else
      updateCursor(src, true, false);
  }
  function cacheMouse(e4, src, _l, _t, _w, _h, _i, initial, snap) {
    if (rect2 == null)
      syncRect(false);
    setCursorEvent(e4);
    if (e4 != null) {
      _l = e4.clientX - rect2.left;
      _t = e4.clientY - rect2.top;
    } else {
      if (_l < 0 || _t < 0) {
        mouseLeft1 = -10;
        mouseTop1 = -10;
        return;
      }
      let [xKey, yKey] = syncOpts.scales;
      let syncOptsSrc = src.cursor.sync;
      let [xValSrc, yValSrc] = syncOptsSrc.values;
      let [xKeySrc, yKeySrc] = syncOptsSrc.scales;
      let [matchXKeys, matchYKeys] = syncOpts.match;
      let rotSrc = src.axes[0].side % 2 == 1;
      let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss, yDim = scaleX.ori == 1 ? plotWidCss : plotHgtCss, _xDim = rotSrc ? _h : _w, _yDim = rotSrc ? _w : _h, _xPos = rotSrc ? _t : _l, _yPos = rotSrc ? _l : _t;
      if (xKeySrc != null)
        _l = matchXKeys(xKey, xKeySrc) ? getPos(xValSrc, scales[xKey], xDim, 0) : -10;
      else
        _l = xDim * (_xPos / _xDim);
      if (yKeySrc != null)
        _t = matchYKeys(yKey, yKeySrc) ? getPos(yValSrc, scales[yKey], yDim, 0) : -10;
      else
        _t = yDim * (_yPos / _yDim);
      if (scaleX.ori == 1) {
        let __l = _l;
        _l = _t;
        _t = __l;
      }
    }
    if (snap && (src == null || src.cursor.event.type == mousemove)) {
      if (_l <= 1 || _l >= plotWidCss - 1)
        _l = incrRound(_l, plotWidCss);
      if (_t <= 1 || _t >= plotHgtCss - 1)
        _t = incrRound(_t, plotHgtCss);
    }
    if (initial) {
      rawMouseLeft0 = _l;
      rawMouseTop0 = _t;
      [mouseLeft0, mouseTop0] = cursor.move(self, _l, _t);
    } else {
      mouseLeft1 = _l;
      mouseTop1 = _t;
    }
  }
  const _hideProps = {
    width: 0,
    height: 0,
    left: 0,
    top: 0
  };
  function hideSelect() {
    setSelect(_hideProps, false);
  }
  let downSelectLeft;
  let downSelectTop;
  let downSelectWidth;
  let downSelectHeight;
  function mouseDown(e4, src, _l, _t, _w, _h, _i) {
    dragging = true;
    dragX = dragY = drag._x = drag._y = false;
    cacheMouse(e4, src, _l, _t, _w, _h, _i, true, false);
    if (e4 != null) {
      onMouse(mouseup, doc, mouseUp, false);
      pubSync(mousedown, self, mouseLeft0, mouseTop0, plotWidCss, plotHgtCss, null);
    }
    let { left, top, width, height } = select;
    downSelectLeft = left;
    downSelectTop = top;
    downSelectWidth = width;
    downSelectHeight = height;
  }
  function mouseUp(e4, src, _l, _t, _w, _h, _i) {
    dragging = drag._x = drag._y = false;
    cacheMouse(e4, src, _l, _t, _w, _h, _i, false, true);
    let { left, top, width, height } = select;
    let hasSelect = width > 0 || height > 0;
    let chgSelect = downSelectLeft != left || downSelectTop != top || downSelectWidth != width || downSelectHeight != height;
    hasSelect && chgSelect && setSelect(select);
    if (drag.setScale && hasSelect && chgSelect) {
      let xOff = left, xDim = width, yOff = top, yDim = height;
      if (scaleX.ori == 1) {
        xOff = top, xDim = height, yOff = left, yDim = width;
      }
      if (dragX) {
        _setScale(
          xScaleKey,
          posToVal(xOff, xScaleKey),
          posToVal(xOff + xDim, xScaleKey)
        );
      }
      if (dragY) {
        for (let k4 in scales) {
          let sc = scales[k4];
          if (k4 != xScaleKey && sc.from == null && sc.min != inf) {
            _setScale(
              k4,
              posToVal(yOff + yDim, k4),
              posToVal(yOff, k4)
            );
          }
        }
      }
      hideSelect();
    } else if (cursor.lock) {
      cursor._lock = !cursor._lock;
      updateCursor(src, true, e4 != null);
    }
    if (e4 != null) {
      offMouse(mouseup, doc);
      pubSync(mouseup, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, null);
    }
  }
  function mouseLeave(e4, src, _l, _t, _w, _h, _i) {
    if (cursor._lock)
      return;
    setCursorEvent(e4);
    let _dragging = dragging;
    if (dragging) {
      let snapH = true;
      let snapV = true;
      let snapProx = 10;
      let dragH, dragV;
      if (scaleX.ori == 0) {
        dragH = dragX;
        dragV = dragY;
      } else {
        dragH = dragY;
        dragV = dragX;
      }
      if (dragH && dragV) {
        snapH = mouseLeft1 <= snapProx || mouseLeft1 >= plotWidCss - snapProx;
        snapV = mouseTop1 <= snapProx || mouseTop1 >= plotHgtCss - snapProx;
      }
      if (dragH && snapH)
        mouseLeft1 = mouseLeft1 < mouseLeft0 ? 0 : plotWidCss;
      if (dragV && snapV)
        mouseTop1 = mouseTop1 < mouseTop0 ? 0 : plotHgtCss;
      updateCursor(null, true, true);
      dragging = false;
    }
    mouseLeft1 = -10;
    mouseTop1 = -10;
    activeIdxs.fill(null);
    updateCursor(null, true, true);
    if (_dragging)
      dragging = _dragging;
  }
  function dblClick(e4, src, _l, _t, _w, _h, _i) {
    if (cursor._lock)
      return;
    setCursorEvent(e4);
    autoScaleX();
    hideSelect();
    if (e4 != null)
      pubSync(dblclick, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, null);
  }
  function syncPxRatio() {
    axes.forEach(syncFontSize);
    _setSize(self.width, self.height, true);
  }
  on(dppxchange, win, syncPxRatio);
  const events = {};
  events.mousedown = mouseDown;
  events.mousemove = mouseMove;
  events.mouseup = mouseUp;
  events.dblclick = dblClick;
  events["setSeries"] = (e4, src, idx, opts2) => {
    let seriesIdxMatcher2 = syncOpts.match[2];
    idx = seriesIdxMatcher2(self, src, idx);
    idx != -1 && setSeries(idx, opts2, true, false);
  };
  if (showCursor) {
    onMouse(mousedown, over, mouseDown);
    onMouse(mousemove, over, mouseMove);
    onMouse(mouseenter, over, (e4) => {
      setCursorEvent(e4);
      syncRect(false);
    });
    onMouse(mouseleave, over, mouseLeave);
    onMouse(dblclick, over, dblClick);
    cursorPlots.add(self);
    self.syncRect = syncRect;
  }
  const hooks = self.hooks = opts.hooks || {};
  function fire(evName, a1, a22) {
    if (deferHooks)
      hooksQueue.push([evName, a1, a22]);
    else {
      if (evName in hooks) {
        hooks[evName].forEach((fn) => {
          fn.call(null, self, a1, a22);
        });
      }
    }
  }
  (opts.plugins || []).forEach((p5) => {
    for (let evName in p5.hooks)
      hooks[evName] = (hooks[evName] || []).concat(p5.hooks[evName]);
  });
  const seriesIdxMatcher = (self2, src, srcSeriesIdx) => srcSeriesIdx;
  const syncOpts = assign({
    key: null,
    setSeries: false,
    filters: {
      pub: retTrue,
      sub: retTrue
    },
    scales: [xScaleKey, series[1] ? series[1].scale : null],
    match: [retEq, retEq, seriesIdxMatcher],
    values: [null, null]
  }, cursor.sync);
  if (syncOpts.match.length == 2)
    syncOpts.match.push(seriesIdxMatcher);
  cursor.sync = syncOpts;
  const syncKey = syncOpts.key;
  const sync = _sync(syncKey);
  function pubSync(type, src, x3, y5, w5, h5, i4) {
    if (syncOpts.filters.pub(type, src, x3, y5, w5, h5, i4))
      sync.pub(type, src, x3, y5, w5, h5, i4);
  }
  sync.sub(self);
  function pub(type, src, x3, y5, w5, h5, i4) {
    if (syncOpts.filters.sub(type, src, x3, y5, w5, h5, i4))
      events[type](null, src, x3, y5, w5, h5, i4);
  }
  self.pub = pub;
  function destroy() {
    sync.unsub(self);
    cursorPlots.delete(self);
    mouseListeners.clear();
    off(dppxchange, win, syncPxRatio);
    root.remove();
    legendTable?.remove();
    fire("destroy");
  }
  self.destroy = destroy;
  function _init() {
    fire("init", opts, data);
    setData(data || opts.data, false);
    if (pendScales[xScaleKey])
      setScale(xScaleKey, pendScales[xScaleKey]);
    else
      autoScaleX();
    shouldSetSelect = select.show && (select.width > 0 || select.height > 0);
    shouldSetCursor = shouldSetLegend = true;
    _setSize(opts.width, opts.height);
  }
  series.forEach(initSeries);
  axes.forEach(initAxis);
  if (then) {
    if (then instanceof HTMLElement) {
      then.appendChild(root);
      _init();
    } else
      then(self, _init);
  } else
    _init();
  return self;
}
uPlot.assign = assign;
uPlot.fmtNum = fmtNum;
uPlot.rangeNum = rangeNum;
uPlot.rangeLog = rangeLog;
uPlot.rangeAsinh = rangeAsinh;
uPlot.orient = orient;
uPlot.pxRatio = pxRatio;
{
  uPlot.join = join;
}
{
  uPlot.fmtDate = fmtDate;
  uPlot.tzDate = tzDate;
}
uPlot.sync = _sync;
{
  uPlot.addGap = addGap;
  uPlot.clipGaps = clipGaps;
  let paths = uPlot.paths = {
    points
  };
  paths.linear = linear;
  paths.stepped = stepped;
  paths.bars = bars;
  paths.spline = monotoneCubic;
}

// src/ui/Plot.tsx
var CURVE_COLOURS = ["#d98200", "#2f8fd0", "#0a9a6f", "#c0589a", "#d1502a", "#7a6fe0", "#8f8a1e", "#808891"];
function colours(element) {
  const style = getComputedStyle(element);
  return {
    text: style.getPropertyValue("--text").trim() || "#000",
    grid: style.getPropertyValue("--border").trim() || "#ccc",
    line: style.getPropertyValue("--accent").trim() || "#07c"
  };
}
function finite(values) {
  return values.map((value) => {
    const number2 = toNumber(value);
    return Number.isFinite(number2) ? number2 : null;
  });
}
function Plot({ curves, marked, height, title, labels, positions: positions2, onPart, onValue }) {
  const box = T2(null);
  A2(() => {
    const element = box.current;
    if (!element || !curves.length) return;
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    let plot = null;
    const make = () => {
      plot?.destroy();
      const { text, grid: grid2, line } = colours(element);
      const axis = { stroke: text, grid: { stroke: grid2, width: 1 }, ticks: { stroke: grid2, width: 1 }, font: "11px system-ui" };
      const { begin, step, min: min2 } = curves[0].series;
      const data = [positions2 ?? min2.map((_4, at) => begin + at * step)];
      const drawn2 = [{}];
      const bands = [];
      for (const { series, colour } of curves) {
        const stroke2 = colour ?? line;
        data.push(finite(series.min));
        drawn2.push({ stroke: stroke2, width: 1.5, points: { show: series.min.length < 60 } });
        if (!series.max) continue;
        data.push(finite(series.max));
        drawn2.push({ stroke: stroke2, width: 1.5 });
        bands.push({ series: [data.length - 1, data.length - 2], fill: `${stroke2}40` });
      }
      const [first, middle, last] = [0, data[0].length >> 1, -1].map((at) => textAt(labels, data[0].at(at)));
      const room = (shown) => 2 * Math.max(halfOf(shown, first), halfOf(shown, middle), halfOf(shown, last)) + 10;
      plot = new uPlot(
        {
          padding: [null, (shown) => Math.max(17, halfOf(shown, last)), null, null],
          width: Math.max(120, element.clientWidth),
          height,
          scales: { x: { time: false } },
          legend: { show: false },
          // What is outlined is read again, with more detail.
          cursor: { drag: { x: Boolean(onPart), y: false, setScale: false } },
          axes: [
            { ...axis, size: 30, ...labels && { values: (_4, at) => at.map((one) => tickOf(labels, one)), space: (shown) => Math.max(80, room(shown)) } },
            { ...axis, size: (shown, texts) => Math.max(widthOf(shown, texts), halfOf(shown, first)) }
          ],
          series: drawn2,
          bands,
          hooks: {
            setSelect: [
              (shown) => {
                const { left, width } = shown.select;
                if (width < 3 || !onPart) return;
                const at = (x3) => Math.round(shown.posToVal(x3, "x"));
                onPart([at(left), at(left + width) + 1]);
                shown.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              }
            ],
            setCursor: [(shown) => onValue?.(pointed(curves, shown.cursor.idx, labels, positions2))],
            draw: [
              (shown) => {
                if (marked === null) return;
                const x3 = Math.round(shown.valToPos(marked, "x", true)) + 0.5;
                shown.ctx.strokeStyle = text;
                shown.ctx.beginPath();
                shown.ctx.moveTo(x3, shown.bbox.top);
                shown.ctx.lineTo(x3, shown.bbox.top + shown.bbox.height);
                shown.ctx.stroke();
              }
            ]
          }
        },
        data,
        element
      );
    };
    make();
    const observer = new ResizeObserver(() => plot?.setSize({ width: Math.max(120, element.clientWidth), height }));
    observer.observe(element);
    scheme.addEventListener("change", make);
    return () => {
      observer.disconnect();
      scheme.removeEventListener("change", make);
      plot?.destroy();
    };
  }, [curves, marked, height, labels]);
  return /* @__PURE__ */ a4("div", { class: "plot", ref: box, role: "img", "aria-label": title });
}
function rounded(value) {
  return typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(9))) : String(value);
}
function widthOf(plot, texts) {
  plot.ctx.font = `${11 * devicePixelRatio}px system-ui`;
  const widest = Math.max(0, ...(texts ?? []).map((text) => plot.ctx.measureText(text).width));
  return Math.max(40, Math.ceil(widest / devicePixelRatio) + 18);
}
function textAt(labels, at) {
  return labelAt(labels, at ?? 0) ?? String(at);
}
function halfOf(plot, text) {
  plot.ctx.font = `${11 * devicePixelRatio}px system-ui`;
  return Math.ceil(plot.ctx.measureText(text).width / devicePixelRatio / 2) + 2;
}
function tickOf(labels, at) {
  return Number.isInteger(at) ? labelAt(labels, at) ?? String(at) : "";
}
function pointed(curves, at, labels, positions2) {
  if (at === null || at === void 0) return "";
  const { series } = curves[0];
  const first = series.begin + at * series.step;
  const last = Math.min(series.begin + series.length, first + series.step) - 1;
  const named = (index) => {
    const label2 = labelAt(labels, index);
    return label2 === null ? String(index) : `${label2} [${index}]`;
  };
  const place = positions2 ? positions2[at].toPrecision(4) : series.max ? `${named(first)} to ${named(last)}` : named(first);
  const values = curves.map(({ series: { min: min2, max: max2 }, name }) => {
    const value = min2[at] === null || min2[at] === void 0 ? "NaN" : max2 ? `${rounded(min2[at])} to ${rounded(max2[at])}` : rounded(min2[at]);
    return name ? `${name}: ${value}` : value;
  });
  return `${place}: ${values.join("; ")}`;
}

// src/ui/Curve.tsx
var SAMPLES = 1e3;
function Line({ viewer, pane }) {
  const part = useSignal(null);
  const value = useSignal("");
  const series = useSignal(null);
  const failure = useSignal("");
  const axis = pane.axes.value.x ?? 0;
  const index = viewer.indexOf(pane).join(",");
  const total = pane.node.shape[axis] ?? 0;
  const [begin, end] = part.value ?? [0, total];
  const show = (first, after) => {
    const length = Math.max(2, Math.min(total, Math.round(after - first)));
    const from = Math.max(0, Math.min(total - length, Math.round(first)));
    part.value = length >= total ? null : [from, from + length];
  };
  const zoom = (factor) => {
    const middle = (begin + end) / 2;
    const half = (end - begin) / 2 * factor;
    show(middle - half, middle + half);
  };
  A2(() => {
    let current = true;
    viewer.api.series(pane.node.path, axis, index, {
      width: SAMPLES,
      field: pane.field.value,
      as: pane.form,
      begin: part.value?.[0],
      end: part.value?.[1]
    }).then((found) => {
      if (!current) return;
      series.value = found;
      failure.value = "";
    }).catch((error) => {
      if (current) failure.value = error instanceof Error ? error.message : String(error);
      viewer.note(error);
    });
    return () => {
      current = false;
    };
  }, [pane, axis, index, pane.field.value, pane.form, part.value, viewer.connection.offline.value]);
  const step = (end - begin) / 2;
  const curves = w2(() => series.value ? [{ series: series.value }] : [], [series.value]);
  return /* @__PURE__ */ a4("div", { class: "frame curve", children: [
    /* @__PURE__ */ a4("p", { class: "parts", children: [
      /* @__PURE__ */ a4("button", { type: "button", onClick: () => zoom(0.5), disabled: end - begin <= 2, children: "Zoom in" }),
      /* @__PURE__ */ a4("button", { type: "button", onClick: () => zoom(2), disabled: !part.value, children: "Zoom out" }),
      /* @__PURE__ */ a4("button", { type: "button", "aria-label": "Earlier part", onClick: () => show(begin - step, end - step), disabled: begin === 0, children: "◂" }),
      /* @__PURE__ */ a4("button", { type: "button", "aria-label": "Later part", onClick: () => show(begin + step, end + step), disabled: end >= total, children: "▸" }),
      /* @__PURE__ */ a4("button", { type: "button", onClick: () => part.value = null, disabled: !part.value, children: "Whole curve" }),
      /* @__PURE__ */ a4("span", { class: "quiet", children: "A drag across the curve shows that part of it." })
    ] }),
    failure.value && /* @__PURE__ */ a4("p", { class: "notice", children: /* @__PURE__ */ a4("bdi", { children: failure.value }) }),
    series.value && /* @__PURE__ */ a4($, { children: [
      /* @__PURE__ */ a4(
        Plot,
        {
          curves,
          marked: null,
          height: 320,
          title: `Curve along ${pane.dimension(axis)}`,
          labels: pane.labels.value?.[axis],
          onPart: ([first, after]) => show(first, after),
          onValue: (text) => value.value = text
        }
      ),
      /* @__PURE__ */ a4("output", { class: "value", children: /* @__PURE__ */ a4("bdi", { children: value.value ? `${pane.dimension(axis)} ${value.value}` : " " }) }),
      /* @__PURE__ */ a4(Summary, { series: series.value, name: pane.dimension(axis), unit: pane.form === "cf" || !pane.node.decodes ? pane.node.unit : null })
    ] })
  ] });
}
function Summary({ series, name, unit }) {
  const values = [...series.min, ...series.max ?? []].map(toNumber).filter(Number.isFinite);
  const extent = values.length ? `from ${rounded(Math.min(...values))} to ${rounded(Math.max(...values))}${unit ? ` ${symbol(unit)}` : ""}` : "without a finite value";
  return /* @__PURE__ */ a4("p", { class: "quiet", children: [
    series.length,
    " values along ",
    /* @__PURE__ */ a4("bdi", { children: name }),
    series.begin ? ` from index ${series.begin}` : "",
    ", ",
    extent,
    series.max ? `; smallest and largest of each ${series.step}` : ""
  ] });
}

// src/ui/Series.tsx
function indexAt(viewer, { pane, row, column }) {
  const index = viewer.indexOf(pane);
  const { y: y5, x: x3 } = pane.axes.value;
  if (y5 !== void 0) index[y5] = row;
  if (x3 !== void 0) index[x3] = column;
  return index;
}
function nameOf({ pane, row, column }) {
  const { y: y5 = 0, x: x3 = 0 } = pane.axes.value;
  return `${pane.placeOf(y5, row)} ${pane.placeOf(x3, column)}`;
}
function SeriesBox({ viewer }) {
  const axis = useSignal(null);
  const found = useSignal(/* @__PURE__ */ new Map());
  const failure = useSignal("");
  const value = useSignal("");
  const { places } = viewer;
  const last = places.at(-1);
  const pane = last?.pane;
  const axes = pane ? pane.node.shape.map((_4, at) => at).filter((at) => pane.node.shape[at] > 1) : [];
  const usual = pane?.projection.value?.axis ?? pane?.otherAxes.find((at) => axes.includes(at)) ?? pane?.axes.value.x ?? 0;
  const along = axis.value !== null && axes.includes(axis.value) ? axis.value : usual;
  const keys = places.map((place) => {
    const index = indexAt(viewer, place).map((one, at) => at === along ? 0 : one);
    return JSON.stringify([place.pane.node.path, along, index.join(","), place.pane.field.value ?? "", place.pane.form]);
  });
  A2(() => {
    const abort = new AbortController();
    failure.value = "";
    for (const key of keys) {
      if (found.value.has(key)) continue;
      const [path, on2, index, field, as] = JSON.parse(key);
      viewer.api.series(path, on2, index, { width: 400, field, as }, abort.signal).then((series) => {
        const known = [...found.value].filter(([other]) => keys.includes(other));
        found.value = new Map([...known, [key, series]]);
      }).catch((error) => {
        if (abort.signal.aborted) return;
        failure.value = error instanceof Error ? error.message : String(error);
        viewer.note(error);
      });
    }
    return () => abort.abort();
  }, [keys.join("\n"), viewer.connection.offline.value]);
  const isSeveral = places.length > 1;
  const curves = w2(() => {
    const listed = [];
    keys.forEach((key, at) => {
      const series = found.value.get(key);
      if (!series || listed[0] && listed[0].series.min.length !== series.min.length) return;
      listed.push({ series, ...isSeveral && { colour: CURVE_COLOURS[at % 8], name: nameOf(places[at]) } });
    });
    return listed;
  }, [found.value, keys.join("\n")]);
  if (!last || !pane) return null;
  const isPinned = viewer.series.value === null;
  return /* @__PURE__ */ a4("section", { class: "series", "aria-label": "Series", children: [
    /* @__PURE__ */ a4("h3", { children: [
      "Series at ",
      /* @__PURE__ */ a4("bdi", { children: nameOf(last) })
    ] }),
    /* @__PURE__ */ a4("label", { children: [
      "along",
      " ",
      /* @__PURE__ */ a4("select", { value: along, onChange: (event) => axis.value = Number(event.currentTarget.value), children: axes.map((at) => /* @__PURE__ */ a4("option", { value: at, children: pane.dimension(at) }, at)) })
    ] }),
    " ",
    /* @__PURE__ */ a4("button", { type: "button", disabled: isPinned || viewer.pins.value.length >= 7, title: "The next click adds another series (s)", onClick: () => viewer.pin(), children: "Pin" }),
    " ",
    /* @__PURE__ */ a4("button", { type: "button", onClick: () => viewer.closeSeries(), children: "Close series" }),
    isSeveral && /* @__PURE__ */ a4("ul", { class: "pins", children: places.map((place, at) => /* @__PURE__ */ a4("li", { children: [
      /* @__PURE__ */ a4("span", { class: "dot", ref: (dot) => dot?.style.setProperty("background", CURVE_COLOURS[at % 8]) }),
      /* @__PURE__ */ a4("bdi", { children: nameOf(place) }),
      /* @__PURE__ */ a4("button", { type: "button", "aria-label": `Remove series ${at + 1}`, onClick: () => viewer.removePlace(at), children: "✕" })
    ] }, keys[at] + at)) }),
    failure.value && /* @__PURE__ */ a4("p", { class: "notice", children: /* @__PURE__ */ a4("bdi", { children: failure.value }) }),
    curves.length > 0 && /* @__PURE__ */ a4($, { children: [
      /* @__PURE__ */ a4(
        Plot,
        {
          curves,
          marked: viewer.indexOf(pane)[along],
          height: 150,
          title: `Series along ${pane.dimension(along)}`,
          labels: pane.labels.value?.[along],
          onValue: (text) => value.value = text
        }
      ),
      /* @__PURE__ */ a4("output", { class: "value", children: /* @__PURE__ */ a4("bdi", { children: value.value || " " }) }),
      /* @__PURE__ */ a4(Summary, { series: curves[curves.length - 1].series, name: pane.dimension(along) })
    ] })
  ] });
}
function ProfileBox({ viewer }) {
  const line = viewer.line.value;
  const series = useSignal(null);
  const failure = useSignal("");
  const value = useSignal("");
  const ends = line ? [line.from.row, line.from.column, line.to.row, line.to.column].join(",") : "";
  const index = line ? viewer.indexOf(line.pane).join(",") : "";
  A2(() => {
    if (!line) return;
    const abort = new AbortController();
    const { pane } = line;
    const { y: y5, x: x3 } = pane.axes.value;
    const timer = setTimeout(() => {
      viewer.api.profile({ path: pane.node.path, index, axes: `${y5},${x3}`, ends, field: pane.field.value, as: pane.form }, abort.signal).then(({ values, distances }) => {
        failure.value = "";
        series.value = { series: { axis: 0, begin: 0, length: values.length, step: 1, min: values, max: null }, positions: distances };
      }).catch((error) => {
        if (abort.signal.aborted) return;
        series.value = null;
        failure.value = error instanceof Error ? error.message : String(error);
        viewer.note(error);
      });
    }, 120);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [line?.pane, ends, index, line?.pane.form, line?.pane.field.value, viewer.connection.offline.value]);
  const curves = w2(() => series.value ? [{ series: series.value.series }] : [], [series.value]);
  if (!line) return null;
  return /* @__PURE__ */ a4("section", { class: "profile", "aria-label": "Profile", children: [
    /* @__PURE__ */ a4("h3", { children: [
      "Profile from ",
      /* @__PURE__ */ a4("bdi", { children: nameOf({ pane: line.pane, ...line.from }) }),
      " to ",
      /* @__PURE__ */ a4("bdi", { children: nameOf({ pane: line.pane, ...line.to }) })
    ] }),
    failure.value && /* @__PURE__ */ a4("p", { class: "notice", children: /* @__PURE__ */ a4("bdi", { children: failure.value }) }),
    series.value && /* @__PURE__ */ a4($, { children: [
      /* @__PURE__ */ a4(
        Plot,
        {
          curves,
          marked: null,
          height: 150,
          title: "Values along the line, by the distance from its begin in elements",
          positions: series.value.positions,
          onValue: (text) => value.value = text
        }
      ),
      /* @__PURE__ */ a4("output", { class: "value", children: /* @__PURE__ */ a4("bdi", { children: value.value || " " }) }),
      /* @__PURE__ */ a4(Summary, { series: series.value.series, name: "the line" })
    ] }),
    /* @__PURE__ */ a4("button", { type: "button", onClick: () => viewer.line.value = null, children: "Remove line" })
  ] });
}

// src/paint/paint.ts
function paint(source, look, out) {
  switch (look.kind) {
    case "rgb":
      return paintRgb(source, look, out);
    case "channels":
      return paintChannels(source, look, out);
    case "flow":
      return paintFlow(source, look.range[1], out);
    case "labels":
      return paintLabels(source, look, out);
    case "mask":
      return paintMask(source, out);
    case "complex":
      return paintComplex(source, look.range, look.transform, out);
    default:
      return paintScalar(source, look, out);
  }
}
var tables = /* @__PURE__ */ new Map();
function cached(key, make) {
  let table = tables.get(key);
  if (!table) {
    if (tables.size >= 48) tables.delete(tables.keys().next().value);
    table = make();
    tables.set(key, table);
  }
  return table;
}
function levels(type, range, transform) {
  const numbers2 = numbersOf(type);
  if (!numbers2) return null;
  return cached(`${type} ${range} ${transform}`, () => new Scale(range, transform).table(numbers2));
}
function paintScalar({ type, data, layout }, look, out) {
  const { height, width, sy, sx } = layout;
  const map = colourMap(look.map);
  const bits = asBits(data);
  const table = levels(type, look.range, look.transform);
  if (table) {
    const colours2 = cached(
      `${type} ${look.range} ${look.transform} ${look.map}`,
      () => Uint32Array.from(table, (level) => level === NOT_VALID ? INVALID : map[level])
    );
    for (let y5 = 0, pixel = 0; y5 < height; y5++) {
      for (let x3 = 0, at = y5 * sy; x3 < width; x3++, at += sx) out[pixel++] = colours2[bits[at]];
    }
    return;
  }
  const scale = new Scale(look.range, look.transform);
  const { low, factor } = scale;
  const linear2 = look.transform === "linear" && Number.isFinite(factor);
  for (let y5 = 0, pixel = 0; y5 < height; y5++) {
    for (let x3 = 0, at = y5 * sy; x3 < width; x3++, at += sx) {
      const value = bits[at];
      if (linear2) {
        const scaled2 = (value - low) * factor;
        if (value - value !== 0) out[pixel++] = INVALID;
        else out[pixel++] = map[scaled2 >= 255 ? 255 : scaled2 > 0 ? scaled2 | 0 : 0];
      } else {
        const level = scale.level(value);
        out[pixel++] = level === NOT_VALID ? INVALID : map[level];
      }
    }
  }
}
function paintRgb({ type, data, layout }, look, out) {
  const { height, width, sy, sx, sc, channels } = layout;
  const bits = asBits(data);
  const alpha = channels >= 4;
  const green = channels > 1 ? sc : 0;
  const blue = channels > 2 ? 2 * sc : 0;
  const table = levels(type, look.range, "linear");
  const scale = new Scale(look.range);
  for (let y5 = 0, pixel = 0; y5 < height; y5++) {
    for (let x3 = 0, at = y5 * sy; x3 < width; x3++, at += sx) {
      let r4;
      let g5;
      let b3;
      let a5 = 255;
      if (table) {
        r4 = table[bits[at]];
        g5 = table[bits[at + green]];
        b3 = table[bits[at + blue]];
        if (alpha) a5 = table[bits[at + 3 * sc]];
      } else {
        r4 = scale.level(bits[at]);
        g5 = scale.level(bits[at + green]);
        b3 = scale.level(bits[at + blue]);
        if (alpha) a5 = scale.level(bits[at + 3 * sc]);
      }
      out[pixel++] = (r4 | g5 | b3 | a5) & NOT_VALID ? INVALID : a5 << 24 | b3 << 16 | g5 << 8 | r4;
    }
  }
}
function gammaCurve(gamma) {
  return cached(
    `gamma ${gamma}`,
    () => Uint16Array.from({ length: 256 }, (_4, level) => Math.floor(255 * (level / 255) ** gamma + 0.5))
  );
}
function paintChannels({ type, data, layout }, look, out) {
  const { height, width, sy, sx, sc, channels } = layout;
  const bits = asBits(data);
  const size = height * width;
  const sums = new Uint16Array(3 * size);
  const valid = new Uint8Array(size).fill(1);
  look.channels.slice(0, channels).forEach(({ range, color, active, gamma }, channel) => {
    if (!active) return;
    const table = levels(type, range, "linear");
    const scale = new Scale(range);
    const [red, green, blue] = ofHex(color);
    const curve = gammaCurve(gamma);
    for (let y5 = 0, pixel = 0; y5 < height; y5++) {
      for (let x3 = 0, at = y5 * sy + channel * sc; x3 < width; x3++, at += sx, pixel++) {
        const linear2 = table ? table[bits[at]] : scale.level(bits[at]);
        if (linear2 === NOT_VALID) {
          valid[pixel] = 0;
          continue;
        }
        const level = curve[linear2];
        sums[3 * pixel] += (level * red + 127) / 255 | 0;
        sums[3 * pixel + 1] += (level * green + 127) / 255 | 0;
        sums[3 * pixel + 2] += (level * blue + 127) / 255 | 0;
      }
    }
  });
  for (let pixel = 0; pixel < size; pixel++) {
    out[pixel] = valid[pixel] ? rgb(Math.min(sums[3 * pixel], 255), Math.min(sums[3 * pixel + 1], 255), Math.min(sums[3 * pixel + 2], 255)) : INVALID;
  }
}
var LABELS = Uint32Array.from({ length: 1024 }, (_4, index) => {
  const [red, green, blue] = ofHue(index * 619 % 1024 / 1024);
  const shade = [255, 200, 150][index % 3];
  const pale = [0, 60, 90][(index >> 2) % 3];
  const mixed = (part) => Math.floor(Math.max(part, pale) * shade / 255);
  return rgb(mixed(red), mixed(green), mixed(blue));
});
function labelColour(label2) {
  if (label2 === 0) return rgb(0, 0, 0);
  let hash = Math.imul(label2 ^ label2 >>> 16, 73244475);
  hash = Math.imul(hash ^ hash >>> 16, 73244475);
  return LABELS[(hash ^ hash >>> 16) & 1023];
}
function paintLabels({ data, layout }, { outlines, fill }, out) {
  const { height, width, sy, sx } = layout;
  const white = rgb(255, 255, 255);
  if (fill !== void 0) return paintLabelsAbove(data, layout, outlines, fill, out);
  for (let y5 = 0, pixel = 0; y5 < height; y5++) {
    for (let x3 = 0, at = y5 * sy; x3 < width; x3++, at += sx) {
      const label2 = data[at];
      const edge = outlines && (x3 + 1 < width && data[at + sx] !== label2 || y5 + 1 < height && data[at + sy] !== label2);
      out[pixel++] = edge ? white : labelColour(label2);
    }
  }
}
function paintLabelsAbove(data, { height, width, sy, sx }, outlines, fill, out) {
  for (let y5 = 0, pixel = 0; y5 < height; y5++) {
    for (let x3 = 0, at = y5 * sy; x3 < width; x3++, at += sx, pixel++) {
      const label2 = data[at];
      if (label2 === 0) {
        out[pixel] = 0;
        continue;
      }
      const edge = outlines && (x3 > 0 && data[at - sx] !== label2 || x3 + 1 < width && data[at + sx] !== label2 || y5 > 0 && data[at - sy] !== label2 || y5 + 1 < height && data[at + sy] !== label2);
      out[pixel] = edge ? labelColour(label2) : (labelColour(label2) & 16777215 | fill << 24) >>> 0;
    }
  }
}
function paintMask({ type, data, layout }, out) {
  const { height, width, sy, sx } = layout;
  const numbers2 = numbersOf(type);
  const bits = asBits(data);
  const dark = rgb(26, 28, 44);
  const bright = rgb(255, 205, 64);
  for (let y5 = 0, pixel = 0; y5 < height; y5++) {
    for (let x3 = 0, at = y5 * sy; x3 < width; x3++, at += sx) {
      const value = numbers2 ? numbers2[bits[at]] : bits[at];
      out[pixel++] = Number.isNaN(value) ? INVALID : value === 0 ? dark : bright;
    }
  }
}

// src/ui/Sheet.tsx
function Sheet({ viewer, pane }) {
  const { height, width } = pane.extent;
  const size = useSignal(Math.max(1, Math.min(128, height, width)));
  const count = useSignal(16);
  const seed = useSignal(0);
  const tile = useSignal(null);
  const failure = useSignal("");
  const busy = useSignal(false);
  const canvas = T2(null);
  const { y: y5, x: x3 } = pane.axes.value;
  const rank = pane.node.shape.length;
  const { guess } = pane.node;
  if (y5 === void 0 || x3 === void 0 || y5 !== guess.axes.y || x3 !== guess.axes.x) return null;
  const read = async () => {
    busy.value = true;
    failure.value = "";
    try {
      const found2 = await viewer.api.crops(pane.node.path, `${size.value},${size.value}`, count.value, seed.value);
      tile.value = found2;
      const starts = JSON.parse(found2.headers["x-zarrix-starts"] ?? "[]");
      viewer.windows.value = {
        path: pane.node.path,
        boxes: starts.map((start) => {
          const [row, column] = start.length === rank ? [start[y5], start[x3]] : start.slice(-2);
          return { y0: row, y1: row + size.value, x0: column, x1: column + size.value };
        })
      };
    } catch (error) {
      failure.value = error instanceof Error ? error.message : String(error);
      viewer.note(error);
    }
    busy.value = false;
  };
  const look = pane.look.value;
  A2(() => {
    if (canvas.current && tile.value) drawSheet(canvas.current, tile.value, pane);
  }, [tile.value, look]);
  const set = (target, most) => (event) => {
    const value = Math.round(Number(event.currentTarget.value));
    if (value >= 0) target.value = Math.min(most, value);
  };
  const found = tile.value;
  return /* @__PURE__ */ a4("section", { "aria-label": "Crops of a loader", class: "sheet", children: /* @__PURE__ */ a4(
    "details",
    {
      onToggle: (event) => {
        if (!event.currentTarget.open) viewer.windows.value = null;
      },
      children: [
        /* @__PURE__ */ a4("summary", { children: "Crops of a loader" }),
        /* @__PURE__ */ a4("p", { children: [
          /* @__PURE__ */ a4("label", { children: [
            "size ",
            /* @__PURE__ */ a4("input", { type: "number", min: "1", value: size.value, onChange: set(size, Math.min(height, width, 1024)) })
          ] }),
          " ",
          /* @__PURE__ */ a4("label", { children: [
            "crops ",
            /* @__PURE__ */ a4("input", { type: "number", min: "1", value: count.value, onChange: set(count, 64) })
          ] }),
          " ",
          /* @__PURE__ */ a4("label", { children: [
            "seed ",
            /* @__PURE__ */ a4("input", { type: "number", min: "0", value: seed.value, onChange: set(seed, 2 ** 31) })
          ] }),
          " ",
          /* @__PURE__ */ a4("button", { type: "button", disabled: busy.value, onClick: () => void read(), children: "Read" })
        ] }),
        failure.value && /* @__PURE__ */ a4("p", { class: "notice", children: /* @__PURE__ */ a4("bdi", { children: failure.value }) }),
        found && /* @__PURE__ */ a4($, { children: [
          /* @__PURE__ */ a4("canvas", { ref: canvas, role: "img", "aria-label": `${count.value} crops of ${size.value} by ${size.value}` }),
          /* @__PURE__ */ a4("p", { class: "quiet", children: [
            number(Number(found.headers["x-zarrix-rate"])),
            " crops a second"
          ] })
        ] })
      ]
    }
  ) });
}
function drawSheet(canvas, tile, pane) {
  const context = canvas.getContext("2d");
  const [count] = tile.shape;
  const shape = tile.shape.slice(1);
  const layout = layoutOf(shape, pane.node.guess.axes, pane.node.components);
  const elements = shape.reduce((a5, b3) => a5 * b3, 1);
  const columns = Math.ceil(Math.sqrt(count));
  canvas.width = columns * (layout.width + 2);
  canvas.height = Math.ceil(count / columns) * (layout.height + 2);
  for (let number2 = 0; number2 < count; number2++) {
    const image = new ImageData(layout.width, layout.height);
    const data = tile.data.subarray(number2 * elements, (number2 + 1) * elements);
    paint({ type: tile.type, data, layout }, pane.look.value, new Uint32Array(image.data.buffer));
    context?.putImageData(image, number2 % columns * (layout.width + 2), Math.floor(number2 / columns) * (layout.height + 2));
  }
}

// src/ui/Info.tsx
function Info({ viewer }) {
  const node = viewer.node.value;
  const pane = viewer.active.value;
  if (!node) return null;
  const same = pane && pane.node.path === node.path ? pane : null;
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4(RegionBox, { viewer }),
    /* @__PURE__ */ a4(SeriesBox, { viewer }),
    /* @__PURE__ */ a4(ProfileBox, { viewer }),
    same?.picture && same.tileType && !same.isEmpty && !same.projection.value && !same.chunkMap.value && same.over.value?.mode !== "difference" && same.node.components === 1 && !/^(datetime|timedelta)/.test(same.node.dtype) && /* @__PURE__ */ a4(Histogram, { viewer, pane: same }, `h${same.id}`),
    /* @__PURE__ */ a4(Facts, { node, title: viewer.connection.hello.value?.title }),
    same?.picture && /* @__PURE__ */ a4(Chunk, { viewer, pane: same }),
    /* @__PURE__ */ a4(Attributes, { node }, `a${node.path}`),
    /* @__PURE__ */ a4(Health, { viewer, node }, `v${node.path}`),
    same?.picture && same.tileType && /* @__PURE__ */ a4(Sheet, { viewer, pane: same }, `s${same.id}`)
  ] });
}
function lengths(chunks) {
  return chunks.map((chunk) => Array.isArray(chunk) ? `(${chunk.slice(0, 4).join("+")}${chunk.length > 4 ? "…" : ""})` : chunk).join(" × ");
}
function Facts({ node, title }) {
  const rows = node.kind === "group" ? typeof node.members === "number" ? [["members", node.members.toLocaleString("en")]] : [] : [
    ["shape", node.shape.join(" × ") || "scalar"],
    ["data type", node.dtype],
    ["axes", node.dims?.some(Boolean) ? node.dims.map((name, axis) => `${name ?? "unnamed"}${node.units?.[axis] ? ` (${node.units[axis]})` : ""}`).join(", ") : "unnamed"],
    [node.shards ? "inner chunks" : "chunks", `${lengths(node.chunks)} (${node.grid.reduce((a5, b3) => a5 * b3, 1).toLocaleString("en")})`],
    ...node.shards ? [["shards", lengths(node.shards)]] : [],
    ["codecs", node.codecs.join(", ") || "none"],
    ["fill value", node.fill_value],
    ["size", bytes(node.nbytes)],
    ["store", `${node.store}${node.remote ? ", remote" : ""}`],
    ["shown as", `${node.guess.kind}${node.guess.reason ? `: ${node.guess.reason}` : ""}`]
  ];
  return /* @__PURE__ */ a4("section", { "aria-label": "Array", children: [
    /* @__PURE__ */ a4("h3", { children: [
      /* @__PURE__ */ a4("bdi", { children: node.path || title || "root" }),
      " ",
      [`v${node.zarr_format}`, ...node.badges].map((badge) => /* @__PURE__ */ a4("span", { class: "badge", children: badge }, badge))
    ] }),
    /* @__PURE__ */ a4("dl", { class: "facts-list", children: rows.map(([name, text]) => /* @__PURE__ */ a4("div", { children: [
      /* @__PURE__ */ a4("dt", { children: name }),
      /* @__PURE__ */ a4("dd", { children: /* @__PURE__ */ a4("bdi", { children: text }) })
    ] }, name)) })
  ] });
}
function Chunk({ viewer, pane }) {
  const facts = useSignal(null);
  const cursor = viewer.cursor.value;
  const { y: y5, x: x3 } = pane.axes.value;
  const { node } = pane;
  let coords = null;
  if (cursor?.pane === pane && y5 !== void 0 && x3 !== void 0 && viewer.showGrid.value) {
    const { height, width } = pane.extent;
    const index = viewer.indexOf(pane);
    index[y5] = Math.floor(cursor.fy * height);
    index[x3] = Math.floor(cursor.fx * width);
    coords = index.map((value, axis) => chunkCuts(node.shape[axis], node.chunks[axis]).find(value));
  }
  const key = coords?.join(",");
  A2(() => {
    if (!coords) return;
    let current = true;
    const timer = setTimeout(() => {
      viewer.api.chunk(node.path, coords).then((found2) => current && (facts.value = found2)).catch((error) => viewer.note(error));
    }, 80);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [key]);
  const found = facts.value;
  if (!found || !viewer.showGrid.value) return null;
  return /* @__PURE__ */ a4("section", { "aria-label": "Chunk", children: [
    /* @__PURE__ */ a4("h3", { children: [
      "Chunk ",
      found.coords.join(", ")
    ] }),
    /* @__PURE__ */ a4("p", { children: [
      /* @__PURE__ */ a4("code", { children: /* @__PURE__ */ a4("bdi", { children: found.key }) }),
      /* @__PURE__ */ a4("br", {}),
      found.stored ? `${bytes(found.bytes)} of ${bytes(found.raw_bytes)}${found.ratio ? `, ratio ${found.ratio.toPrecision(3)}` : ""}` : "not stored: it reads as the fill value",
      found.checksum ? ", with a checksum" : ""
    ] })
  ] });
}
function Attributes({ node }) {
  const names = Object.keys(node.attributes);
  const copied = useSignal(false);
  if (!names.length && !node.attributes_truncated) return null;
  return /* @__PURE__ */ a4("section", { "aria-label": "Attributes", children: /* @__PURE__ */ a4("details", { children: [
    /* @__PURE__ */ a4("summary", { children: [
      "Attributes (",
      node.attributes_truncated ? "too large to show" : names.length,
      ")"
    ] }),
    /* @__PURE__ */ a4(Json, { name: "", value: node.attributes, depth: 0 }),
    /* @__PURE__ */ a4(
      "button",
      {
        type: "button",
        onClick: () => void navigator.clipboard?.writeText(JSON.stringify(node.attributes, null, 2)).then(
          () => copied.value = true,
          () => copied.value = false
        ),
        children: copied.value ? "Copied" : "Copy as JSON"
      }
    )
  ] }) });
}
var MOST = 100;
var LONGEST2 = 2e3;
function Json({ name, value, depth }) {
  if (value === null || typeof value !== "object") {
    const text = JSON.stringify(value);
    return /* @__PURE__ */ a4("div", { class: "json", children: [
      name && /* @__PURE__ */ a4("bdi", { class: "json-name", children: clipped(name) }),
      name && ": ",
      /* @__PURE__ */ a4("bdi", { children: clipped(text) })
    ] });
  }
  const entries = Object.entries(value);
  const members = /* @__PURE__ */ a4($, { children: [
    entries.slice(0, MOST).map(([key, member]) => /* @__PURE__ */ a4(Json, { name: Array.isArray(value) ? `${key}` : key, value: member, depth: depth + 1 }, key)),
    entries.length > MOST && /* @__PURE__ */ a4("div", { class: "json", children: [
      "and ",
      entries.length - MOST,
      " more"
    ] })
  ] });
  if (depth === 0) return /* @__PURE__ */ a4("div", { class: "json-root", children: members });
  return /* @__PURE__ */ a4(JsonBranch, { name: clipped(name), count: entries.length, list: Array.isArray(value), open: depth < 2 && entries.length <= 8, children: members });
}
function JsonBranch(props) {
  const open = useSignal(props.open);
  return /* @__PURE__ */ a4("details", { class: "json", open: open.value, onToggle: (event) => open.value = event.currentTarget.open, children: [
    /* @__PURE__ */ a4("summary", { children: [
      /* @__PURE__ */ a4("bdi", { class: "json-name", children: props.name }),
      " ",
      props.list ? `[${props.count}]` : `{${props.count}}`
    ] }),
    open.value && props.children
  ] });
}
function clipped(text) {
  return text.length > LONGEST2 ? `${text.slice(0, LONGEST2)}… (${text.length} characters)` : text;
}

// src/hatching.ts
var HATCHINGS = {
  invalid: ["#50505a", "#787882", 1],
  missing: ["#2e2614", "#c8912a", -1],
  broken: ["#3c0f14", "#d2323c", 1]
};
var patterns = /* @__PURE__ */ new Map();
function hatch(context, name) {
  let tile = patterns.get(name);
  if (!tile) {
    tile = document.createElement("canvas");
    tile.width = 8;
    tile.height = 8;
    const drawing = tile.getContext("2d");
    const [one, two, direction] = HATCHINGS[name];
    for (let y5 = 0; y5 < 8; y5++) {
      for (let x3 = 0; x3 < 8; x3++) {
        drawing.fillStyle = (x3 + direction * y5 & 7) < 4 ? one : two;
        drawing.fillRect(x3, y5, 1, 1);
      }
    }
    patterns.set(name, tile);
  }
  return context.createPattern(tile, "repeat");
}

// src/marks.ts
function drawMarks(context, view, viewer, pane) {
  drawCoast(context, view, pane, devicePixelRatio);
  if (viewer.showGrid.value) drawGrid(context, view, pane);
  drawBroken(context, view, viewer, pane);
  const windows = viewer.windows.value;
  if (windows && windows.path === pane.node.path) {
    for (const box of windows.boxes) outline(context, view, box, "#4cc9f0", 1);
  }
  const region = viewer.region.value;
  if (region && isSamePlane(region.pane, pane)) {
    const { height, width } = region.pane.extent;
    const own = pane.extent;
    const box = {
      y0: region.box.y0 / height * own.height,
      y1: region.box.y1 / height * own.height,
      x0: region.box.x0 / width * own.width,
      x1: region.box.x1 / width * own.width
    };
    outline(context, view, box, region.pane === pane ? "#ffffff" : "#c0c0c0", 2);
  }
  drawPlaces(context, view, viewer, pane);
  drawLine(context, view, viewer, pane);
  drawScaleBar(context, view, pane, devicePixelRatio);
  if (pane.cross) drawCross(context, view, viewer, pane);
  drawCursor(context, view, viewer, pane);
}
function drawPlaces(context, view, viewer, pane) {
  const { places } = viewer;
  if (places.length < 2) return;
  places.forEach(({ pane: its, row, column }, at) => {
    if (its !== pane) return;
    const [x3, y5] = middleOf(view, row, column);
    for (const [colour, width] of [["#000000", 5], ["#ffffff", 4], [CURVE_COLOURS[at % 8], 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = width * devicePixelRatio;
      context.beginPath();
      context.arc(x3, y5, 6 * devicePixelRatio, 0, 2 * Math.PI);
      context.stroke();
    }
  });
}
function drawLine(context, view, viewer, pane) {
  const line = viewer.line.value;
  if (line?.pane !== pane) return;
  const [x0, y0] = middleOf(view, line.from.row, line.from.column);
  const [x1, y1] = middleOf(view, line.to.row, line.to.column);
  for (const [colour, width] of [["rgba(0, 0, 0, 0.75)", 4], ["#4cc9f0", 2]]) {
    context.strokeStyle = colour;
    context.lineWidth = width * devicePixelRatio;
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
  }
  context.fillStyle = "#4cc9f0";
  context.beginPath();
  context.arc(x0, y0, 4 * devicePixelRatio, 0, 2 * Math.PI);
  context.fill();
}
function middleOf(view, row, column) {
  const { left, top, width, height } = onScreen(view, { y0: row, y1: row + 1, x0: column, x1: column + 1 });
  return [left + width / 2, top + height / 2];
}
function isSamePlane(one, other) {
  const [its, own] = [one.axes.value, other.axes.value];
  return one === other || one.node !== other.node || its.y === own.y && its.x === own.x;
}
function drawCross(context, view, viewer, pane) {
  const { y: y5, x: x3 } = pane.axes.value;
  if (y5 === void 0 || x3 === void 0) return;
  const index = viewer.indexOf(pane);
  const { height, width } = pane.extent;
  const area = onScreen(view, { y0: 0, y1: height, x0: 0, x1: width });
  const place = onScreen(view, { y0: index[y5], y1: index[y5] + 1, x0: index[x3], x1: index[x3] + 1 });
  const row = Math.floor(place.top + place.height / 2) + 0.5;
  const column = Math.floor(place.left + place.width / 2) + 0.5;
  for (const [colour, line] of [["rgba(0, 0, 0, 0.6)", 3], ["#ffd60a", 1]]) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.beginPath();
    context.moveTo(area.left, row);
    context.lineTo(area.left + area.width, row);
    context.moveTo(column, area.top);
    context.lineTo(column, area.top + area.height);
    context.stroke();
  }
}
function outline(context, view, box, colour, width) {
  const { left, top, width: w5, height: h5 } = onScreen(view, box);
  context.lineWidth = width + 2;
  context.strokeStyle = "rgba(0, 0, 0, 0.75)";
  context.strokeRect(left + 0.5, top + 0.5, w5 - 1, h5 - 1);
  context.lineWidth = width;
  context.strokeStyle = colour;
  context.strokeRect(left + 0.5, top + 0.5, w5 - 1, h5 - 1);
}
function drawGrid(context, view, pane) {
  const { y: y5, x: x3 } = pane.axes.value;
  if (y5 === void 0 || x3 === void 0) return;
  const { shape, chunks, shards } = pane.node;
  lines(context, view, pane, chunkCuts(shape[y5], chunks[y5]), chunkCuts(shape[x3], chunks[x3]), 1);
  if (shards) lines(context, view, pane, chunkCuts(shape[y5], shards[y5]), chunkCuts(shape[x3], shards[x3]), 3);
}
function lines(context, view, pane, rows, columns, width) {
  const { height, width: across } = pane.extent;
  const box = visible(view, height, across);
  const area = onScreen(view, { y0: 0, y1: height, x0: 0, x1: across });
  context.beginPath();
  if (view.scaleY * (rows.at(1) - rows.at(0)) >= 4) {
    for (let row = rows.find(box.y0); row <= rows.count && rows.at(row) <= box.y1; row++) {
      const y5 = view.top + Math.round(screenRow(view, rows.at(row)) * view.scaleY) + 0.5;
      context.moveTo(area.left, y5);
      context.lineTo(area.left + area.width, y5);
      if (row === rows.count) break;
    }
  }
  if (view.scale * (columns.at(1) - columns.at(0)) >= 4) {
    for (let column = columns.find(box.x0); column <= columns.count && columns.at(column) <= box.x1; column++) {
      const x3 = view.left + Math.round(columns.at(column) * view.scale) + 0.5;
      context.moveTo(x3, area.top);
      context.lineTo(x3, area.top + area.height);
      if (column === columns.count) break;
    }
  }
  context.lineWidth = width + 2;
  context.strokeStyle = "rgba(0, 0, 0, 0.45)";
  context.stroke();
  context.lineWidth = width;
  context.strokeStyle = "rgba(255, 255, 255, 0.8)";
  context.stroke();
}
function drawBroken(context, view, viewer, pane) {
  const { y: y5, x: x3 } = pane.axes.value;
  if (y5 === void 0 || x3 === void 0) return;
  const { shape, chunks, shards, path } = pane.node;
  const index = viewer.indexOf(pane);
  for (const broken of viewer.broken.value) {
    const { coords } = broken;
    if (broken.path !== path || !coords) continue;
    const lengths2 = broken.unit === "shard" && shards ? shards : chunks;
    const here = pane.otherAxes.every((axis) => chunkCuts(shape[axis], lengths2[axis]).find(index[axis]) === coords[axis]);
    if (!here) continue;
    const rows = chunkCuts(shape[y5], lengths2[y5]);
    const columns = chunkCuts(shape[x3], lengths2[x3]);
    const box = { y0: rows.at(coords[y5]), y1: rows.at(coords[y5] + 1), x0: columns.at(coords[x3]), x1: columns.at(coords[x3] + 1) };
    outline(context, view, box, "#ff4d5a", 3);
    const { left, top, width, height } = onScreen(view, box);
    context.beginPath();
    context.moveTo(left, top);
    context.lineTo(left + width, top + height);
    context.moveTo(left + width, top);
    context.lineTo(left, top + height);
    context.stroke();
  }
}
function drawCursor(context, view, viewer, pane) {
  const cursor = viewer.cursor.value;
  if (!cursor || !isSamePlane(cursor.pane, pane)) return;
  const { height, width } = pane.extent;
  const row = Math.min(height - 1, Math.floor(cursor.fy * height));
  const column = Math.min(width - 1, Math.floor(cursor.fx * width));
  const pixel = onScreen(view, { y0: row, y1: row + 1, x0: column, x1: column + 1 });
  const y5 = pixel.top + pixel.height / 2;
  const x3 = pixel.left + pixel.width / 2;
  for (const [colour, line] of [["rgba(0, 0, 0, 0.8)", 3], ["#ffffff", 1]]) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      const gap = Math.max(4, (dx ? pixel.width : pixel.height) / 2 + 2);
      context.moveTo(x3 + dx * gap, y5 + dy * gap);
      context.lineTo(x3 + dx * (gap + 8), y5 + dy * (gap + 8));
    }
    context.stroke();
    if (Math.min(pixel.width, pixel.height) >= 6) context.strokeRect(pixel.left + 0.5, pixel.top + 0.5, pixel.width - 1, pixel.height - 1);
  }
}

// src/missing.ts
var made3 = /* @__PURE__ */ new WeakMap();
function missingOf(viewer, pane, index, again) {
  const { node } = pane;
  const { y: y5, x: x3 } = pane.axes.value;
  if (y5 === void 0 || x3 === void 0 || node.shape.includes(0)) return null;
  const chunks = pane.otherAxes.map((axis) => chunkCuts(node.shape[axis], node.chunks[axis]).find(index[axis]));
  const key = `${y5},${x3}:${pane.projection.value?.axis}:${chunks}`;
  if (pane.storedKey !== key) {
    pane.storedKey = key;
    pane.storedFailed = false;
    if (!viewer.playing.value) pane.stored.value = null;
    viewer.api.stored(node.path, viewer.selectionOf(pane, null)).then((stored2) => {
      if (pane.storedKey !== key) return;
      pane.stored.value = stored2;
      again();
    }).catch((error) => {
      if (pane.storedKey === key) pane.storedFailed = true;
      viewer.note(error);
      again();
    });
  }
  const stored = pane.stored.value;
  if (!stored) return null;
  let missing = made3.get(stored);
  if (missing === void 0) {
    missing = fromRuns(pane, stored, y5, x3);
    made3.set(stored, missing);
  }
  return missing;
}
function missingGrid(runs, sides, y5, x3, isEvery = false) {
  const counts = new Uint32Array(sides[y5] * sides[x3]);
  const strides = [];
  let stride = 1;
  for (let axis = sides.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= sides[axis];
  }
  let at = 0;
  runs.forEach((length, number2) => {
    if (number2 % 2 === 0) {
      for (let chunk = at; chunk < at + length; chunk++) {
        const row = Math.floor(chunk / strides[y5]) % sides[y5];
        const column = Math.floor(chunk / strides[x3]) % sides[x3];
        counts[row * sides[x3] + column]++;
      }
    }
    at += length;
  });
  const least = isEvery ? sides.reduce((a5, b3) => a5 * b3, 1) / (counts.length || 1) : 1;
  return Uint8Array.from(counts, (count) => count >= least ? 1 : 0);
}
function fromRuns(pane, { box, runs, unit }, y5, x3) {
  const { node } = pane;
  const sides = box.map(([begin, end]) => end - begin);
  const grid2 = missingGrid(runs, sides, y5, x3, pane.projection.value !== null);
  if (!grid2.includes(1)) return null;
  const lengths2 = unit === "shard" && node.shards ? node.shards : node.chunks;
  const rows = chunkCuts(node.shape[y5], lengths2[y5]);
  const columns = chunkCuts(node.shape[x3], lengths2[x3]);
  let canvas = null;
  return {
    rows,
    columns,
    at: (row, column) => grid2[(row - box[y5][0]) * sides[x3] + (column - box[x3][0])] === 1,
    picture: () => {
      if (canvas) return canvas;
      canvas = document.createElement("canvas");
      canvas.width = sides[x3];
      canvas.height = sides[y5];
      const image = new ImageData(sides[x3], sides[y5]);
      const pixels = new Uint32Array(image.data.buffer);
      grid2.forEach((bit, chunk) => {
        const dark = chunk % sides[x3] + Math.floor(chunk / sides[x3]) & 1;
        pixels[chunk] = bit ? dark ? 4279510574 : 4280979912 : 0;
      });
      canvas.getContext("2d")?.putImageData(image, 0, 0);
      return canvas;
    }
  };
}

// src/placing.ts
var DIRECT_ELEMENTS = 12 << 20;
var OVERVIEW_SIDE = 1024;
var PROJECTED_ELEMENTS = 24 << 20;
var Placing = class {
  constructor(viewer, pane, again) {
    this.viewer = viewer;
    this.pane = pane;
    this.again = again;
  }
  viewer;
  pane;
  again;
  /** Facts of the arrays of levels, for their chunks. */
  levels = /* @__PURE__ */ new Map();
  /** The tiles that are seen at an index, in reading order; boxes are in elements of `plane`. */
  placed(index, view, plane = this.pane.extent) {
    const { pane } = this;
    const { node } = pane;
    const axes = pane.axes.value;
    if (node.shape.includes(0)) return [];
    const { height, width } = plane;
    const box = visible(view, height, width);
    const isDifference = pane.over.value?.mode === "difference";
    const level = isDifference ? null : levelFor(node, axes, view.scale * width / pane.extent.width, view.scaleY * height / pane.extent.height);
    const source = level ? this.levels.get(level.path) : node;
    if (level && !source) {
      this.fetchLevel(level);
      return [];
    }
    if (!source || axes.y === void 0 || axes.x === void 0) return [];
    const factor = { y: height / source.shape[axes.y], x: width / source.shape[axes.x] };
    const inLevel = {
      y0: Math.floor(box.y0 / factor.y),
      y1: Math.min(source.shape[axes.y], Math.ceil(box.y1 / factor.y)),
      x0: Math.floor(box.x0 / factor.x),
      x1: Math.min(source.shape[axes.x], Math.ceil(box.x1 / factor.x))
    };
    const depth = pane.depthOf(source);
    const elements = (inLevel.y1 - inLevel.y0) * (inLevel.x1 - inLevel.x0) * pane.channelCount * Math.sqrt(depth);
    const at = index.map(
      (value, axis) => Math.min(source.shape[axis] - 1, Math.floor(value * source.shape[axis] / node.shape[axis]))
    );
    const isLarge = elements > DIRECT_ELEMENTS && Math.min(view.scale, view.scaleY) * width < pane.extent.width;
    const whole = { y0: 0, y1: source.shape[axes.y], x0: 0, x1: source.shape[axes.x] };
    const boxes = isLarge ? overviews(inLevel, whole) : tilesIn(inLevel, this.cuts(source, axes.y), this.cuts(source, axes.x));
    return boxes.map((part) => ({
      request: this.request(source, selection(source.shape.length, axes, at, part, pane.projection.value?.axis), isLarge),
      box: scaled(part, factor, plane),
      axes,
      components: node.components,
      factor
    }));
  }
  cuts(node, axis) {
    const { pane } = this;
    const depth = pane.depthOf(node);
    const least = depth > 1 ? Math.max(64, Math.floor(Math.sqrt(PROJECTED_ELEMENTS / depth))) : Number.POSITIVE_INFINITY;
    return tileCuts(node.shape[axis], node.chunks[axis], Math.min(least, tileSide(pane.channelCount)));
  }
  fetchLevel(level) {
    this.viewer.nodeAt(level.path).then((node) => {
      if (node.kind === "array") this.levels.set(level.path, node);
      this.again();
    }).catch((error) => this.viewer.report(error));
  }
  request(node, sel, isLarge) {
    const { pane } = this;
    const over = pane.over.value;
    const asked = askedOf(pane, node, sel, isLarge);
    if (over?.mode === "difference") {
      const other = askedOf(over.pane, over.pane.node, sel, isLarge);
      const load = async (api, signal) => subtracted(...await Promise.all([asked.load(api, signal), other.load(api, signal)]));
      return { key: `difference ${asked.key} ${other.key}`, load };
    }
    return { key: asked.key, load: (api, signal) => asked.load(api, signal).then((tile) => this.based(tile)) };
  }
  // The first tile decides what the numbers of all are differences from.
  based(tile) {
    const { origin } = this.pane;
    origin.value ??= tile.origin;
    if (origin.value) rebase(tile, origin.value);
    return tile;
  }
};
function askedOf(pane, node, sel, isLarge) {
  const field = pane.field.value;
  const as = pane.kind.value === "labels" ? "label" : pane.form;
  const side = isLarge ? OVERVIEW_SIDE : void 0;
  const { y: y5, x: x3 } = pane.axes.value;
  const projection = pane.projection.value;
  if (projection) {
    const params = { path: node.path, sel, axes: `${y5},${x3}`, along: projection.axis, how: projection.how, side, field, as };
    return { key: `projection ${node.etag} ${JSON.stringify(params)}`, load: (api, signal) => api.projection(params, signal) };
  }
  if (isLarge) {
    const params = { path: node.path, sel, axes: `${y5},${x3}`, side, field, as };
    return { key: `overview ${node.etag} ${JSON.stringify(params)}`, load: (api, signal) => api.overview(params, signal) };
  }
  return {
    key: `tile ${node.path} ${node.etag} ${field ?? ""} ${as} ${sel}`,
    load: (api, signal) => api.tile(node.path, sel, field, as, signal)
  };
}
function overviews(box, whole) {
  const step = 2 ** Math.ceil(Math.log2(Math.max(box.y1 - box.y0, box.x1 - box.x0) / 8));
  const near = {
    y0: Math.max(0, Math.floor(box.y0 / step) * step),
    y1: Math.min(whole.y1, Math.ceil(box.y1 / step) * step),
    x0: Math.max(0, Math.floor(box.x0 / step) * step),
    x1: Math.min(whole.x1, Math.ceil(box.x1 / step) * step)
  };
  const isPart = (near.y1 - near.y0) * 2 <= whole.y1 || (near.x1 - near.x0) * 2 <= whole.x1;
  return isPart ? [whole, near] : [whole];
}
function scaled(box, factor, plane) {
  return {
    y0: box.y0 * factor.y,
    y1: Math.min(plane.height, box.y1 * factor.y),
    x0: box.x0 * factor.x,
    x1: Math.min(plane.width, box.x1 * factor.x)
  };
}

// src/sides.ts
var MOST2 = 32;
function sidesOf(labels, axes) {
  const found = axes.map((axis) => lengthOf(labels[axis]));
  const known = found.filter((one) => one !== null);
  if (known.length < axes.length || new Set(known.map(({ of }) => of)).size > 1) return null;
  const least = Math.min(...known.map(({ size }) => size));
  const sides = known.map(({ size }) => Number((size / least).toPrecision(6)));
  if (Math.max(...sides) > MOST2 || Math.max(...sides) === 1) return null;
  return new Map(axes.map((axis, at) => [axis, sides[at]]));
}
function lengthOf(labels) {
  if (!labels || labels.step === void 0 || labels.kind !== "number") return null;
  if (labels.path !== void 0 && (!labels.unit || labels.unit === "1")) return null;
  const unit = unitOf(labels.unit);
  const size = Math.abs(labels.step) * unit.size;
  return Number.isFinite(size) && size > 0 ? { of: unit.of, size } : null;
}
function crossSides(panes, pane) {
  if (!pane.cross || !pane.labels.value) return null;
  const its = panes.filter((one) => one.cross && one.node === pane.node).map(({ axes: axes2 }) => axes2.value);
  const axes = new Set(its.flatMap(({ y: y5, x: x3 }) => [y5, x3]).filter((axis) => axis !== void 0));
  return sidesOf(pane.labels.value, [...axes].sort((one, other) => one - other));
}
function described(pane, sides) {
  return `elements of ${[...sides].map(([axis, side]) => `${pane.dimension(axis)} ${side}`).join(" : ")}`;
}

// src/picture.ts
var Picture = class {
  constructor(viewer, pane, canvas, overlay, onDrawn) {
    this.viewer = viewer;
    this.pane = pane;
    this.canvas = canvas;
    this.onDrawn = onDrawn;
    this.placing = new Placing(viewer, pane, () => this.schedule());
    this.lower = canvas.getContext("2d");
    this.upper = overlay.getContext("2d");
  }
  viewer;
  pane;
  canvas;
  onDrawn;
  frame = 0;
  lower;
  upper;
  placing;
  /** Of the second array, where there is one. */
  over = null;
  /** How many pictures were drawn, for the count of frames a second. */
  drawn = 0;
  /** The index whose picture is complete on the screen. */
  shown = "";
  schedule() {
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
    }
  }
  dispose() {
    cancelAnimationFrame(this.frame);
    this.viewer.tiles.want(this.pane, []);
  }
  /** Where the plane lies on the canvas, in device pixels. */
  viewport() {
    const { height, width } = this.canvas;
    const plane = this.pane.extent;
    const view = this.viewer.viewOf(this.pane).value;
    const flip = this.pane.flipped.value ? plane.height : 0;
    const { tall, wide } = this.sides();
    if (!view) {
      const unit = this.fit({ height: plane.height * tall, width: plane.width * wide });
      const [scale2, scaleY2] = [unit * wide, unit * tall];
      return { scale: scale2, scaleY: scaleY2, left: centred(plane.width * scale2, width), top: centred(plane.height * scaleY2, height), width, height, flip };
    }
    const scale = view[2] * devicePixelRatio / plane.width;
    const scaleY = scale * tall / wide;
    const [cx, fraction] = view;
    const cy = flip ? 1 - fraction : fraction;
    return {
      scale,
      scaleY,
      left: Math.round(width / 2 - cx * plane.width * scale),
      top: Math.round(height / 2 - cy * plane.height * scaleY),
      width,
      height,
      flip
    };
  }
  /** What part of its plane is seen, as a view that can be kept: centre, and CSS pixels for the width. */
  seen() {
    const view = this.viewer.viewOf(this.pane).value;
    if (view) return view;
    const { scale, scaleY, left, top, width, height, flip } = this.viewport();
    const plane = this.pane.extent;
    const cy = (height / 2 - top) / (plane.height * scaleY);
    return [(width / 2 - left) / (plane.width * scale), flip ? 1 - cy : cy, scale * plane.width / devicePixelRatio];
  }
  /** The sides of an element in proportion, where they are not equal. */
  sides() {
    const sides = crossSides(this.viewer.panes.value, this.pane);
    const { y: y5, x: x3 } = this.pane.axes.value;
    const of = (axis) => axis === void 0 ? 1 : sides?.get(axis) ?? 1;
    return { tall: of(y5), wide: of(x3) };
  }
  /** The scale at which the plane fits; of three planes, at which all of them do. */
  fit(plane) {
    const { pane, viewer } = this;
    const own = fitting(plane.height, plane.width, this.canvas.height, this.canvas.width);
    if (!pane.cross) return own;
    if (pane.fits !== own) {
      pane.fits = own;
      viewer.loaded.value++;
    }
    return Math.min(...viewer.panes.value.map(({ cross, fits }) => cross ? fits : Number.POSITIVE_INFINITY));
  }
  /** The tiles of both arrays at an index. */
  both(index, view) {
    if (this.pane.chunkMap.value) return [];
    return [...this.placing.placed(index, view), ...this.placedAbove(index, view)];
  }
  /** The tiles of the second array, at the places of the plane. */
  placedAbove(index, view) {
    const above = this.pane.over.value;
    if (!above || above.mode === "difference") return [];
    if (this.over?.pane !== above.pane) {
      this.over = { pane: above.pane, placing: new Placing(this.viewer, above.pane, () => this.schedule()) };
    }
    return this.over.placing.placed(above.indexOf(index), view, this.pane.extent);
  }
  /** Whether all tiles of a frame are there. Failed ones count, so that play goes on. */
  has(index) {
    const placed = this.both(index, this.viewport());
    if (this.pane.chunkMap.value) return true;
    return placed.length > 0 && placed.every(({ request }) => this.viewer.tiles.has(request.key));
  }
  /** What is seen now, and then the frames of `ahead`. */
  want(ahead) {
    const view = this.viewport();
    const now = this.both(this.viewer.indexOf(this.pane), view);
    const later = ahead.flatMap((index) => this.both(index, view));
    this.viewer.tiles.want(this.pane, [...now, ...later].map(({ request }) => request));
  }
  draw() {
    const { viewer, pane, lower } = this;
    const view = this.viewport();
    const index = viewer.indexOf(pane);
    if (pane.chunkMap.value && !pane.isEmpty) return this.drawChunkMap(view, index, pane.chunkMap.value);
    const loaded = (place) => ({ place, entry: viewer.tiles.get(place.request.key) });
    const tiles = this.placing.placed(index, view).map(loaded);
    const above = this.placedAbove(index, view).map(loaded);
    const complete = (tiles.length > 0 || pane.isEmpty) && [...tiles, ...above].every(({ entry }) => entry);
    const look = this.lookOf(tiles, complete);
    const isSecond = pane.over.value?.mode === "blink" && pane.over.value.isSecond.value;
    this.clear(view);
    lower.imageSmoothingEnabled = Math.min(view.scale, view.scaleY) < 1 && look.kind !== "labels" && look.kind !== "mask";
    this.drawTiles(view, isSecond ? above : tiles, look);
    if (pane.over.value?.mode === "labels") this.drawLabels(view, above, pane.over.value);
    this.drawMissing(view, index);
    this.drawMarks(view);
    pane.message.value = [...tiles, ...above].flatMap(({ entry }) => entry?.error || entry?.tile?.damage?.sentence || [])[0] ?? "";
    pane.exceeds.value = !viewer.viewOf(pane).value && Math.max(pane.extent.height * view.scaleY - view.height, pane.extent.width * view.scale - view.width) >= 1;
    pane.hidesMissing.value = viewer.showMissing.value && pane.storedFailed;
    pane.quality.value = tiles.flatMap(({ entry }) => entry?.tile?.headers["x-zarrix-quality"] || []).at(-1) ?? "";
    pane.every.value = Math.max(1, ...tiles.map(({ entry }) => Number(entry?.tile?.headers["x-zarrix-every"] ?? 1)));
    this.publish(view, index, look, complete);
    this.onDrawn(view);
    pane.ready.value = complete;
    this.shown = complete ? index.join(",") : "";
    if (!viewer.playing.value) this.want([]);
  }
  /** The chunks of the plane in colours; those that are not stored are hatched. */
  drawChunkMap(view, index, map) {
    const { pane } = this;
    map.want(() => this.schedule());
    this.clear(view);
    drawChunks(this.lower, view, map);
    this.drawMissing(view, index);
    this.drawMarks(view);
    pane.message.value = "";
    pane.quality.value = "";
    const complete = map.grid.value !== null || map.failure.value !== "";
    this.publish(view, index, { ...pane.look.value, range: map.range ?? [0, 1] }, complete);
    this.onDrawn(view);
    pane.ready.value = complete;
    this.shown = complete ? index.join(",") : "";
    this.want([]);
  }
  /** The look of the pane, with the range of these tiles where none is chosen or known. */
  lookOf(tiles, complete) {
    const { pane } = this;
    const look = { ...pane.look.value };
    if (pane.kind.value === "channels") return this.channelsOf(look, tiles, complete);
    if (pane.range.value !== null || pane.found.value !== null && !pane.perFrame.value) return look;
    const loaded = loadedOf(tiles);
    const range = rangeOf2(loaded, look, pane.clip.value);
    if (!range) return look;
    if (complete && !pane.perFrame.value) {
      pane.found.value = range;
      if (pane.adaptScale(range, () => isSpread(loaded))) return this.lookOf(tiles, complete);
    }
    return { ...look, range };
  }
  /** The look with a range for each channel of which none is chosen or known. */
  channelsOf(look, tiles, complete) {
    const { pane } = this;
    const known = pane.perFrame.value ? [] : pane.foundChannels.value;
    const chosen = pane.channels.value;
    if (chosen.every(({ range }, at) => range ?? known[at])) return look;
    const ranges = chosen.map(({ range }, at) => range ?? known[at] ?? channelRange(loadedOf(tiles), at));
    if (complete && !pane.perFrame.value) pane.foundChannels.value = ranges;
    return { ...look, channels: look.channels.map((channel, at) => ({ ...channel, range: ranges[at] ?? channel.range })) };
  }
  clear(view) {
    const { pane, canvas, lower } = this;
    lower.clearRect(0, 0, canvas.width, canvas.height);
    const { height, width } = pane.extent;
    this.fill(view, { y0: 0, y1: height, x0: 0, x1: width }, hatch(lower, "invalid"));
  }
  drawTiles(view, tiles, look) {
    const { lower } = this;
    const lookKey = JSON.stringify(look);
    for (const { place, entry } of tiles) {
      if (!entry) continue;
      if (entry.error !== null) {
        this.fill(view, place.box, hatch(lower, "broken"));
        continue;
      }
      this.painted(entry, place, look, lookKey);
      if (entry.canvas) this.drawTile(view, place, entry.tile, entry.canvas);
      this.drawDamage(view, place, entry.tile);
    }
  }
  /** Labels above the picture; nearest elements, because labels have no values between them. */
  drawLabels(view, tiles, over) {
    const fill = Math.round(over.opacity.value * 255);
    this.lower.imageSmoothingEnabled = false;
    this.drawTiles(view, tiles, { ...over.pane.look.value, kind: "labels", outlines: over.outlines.value, fill });
  }
  drawTile(view, place, tile, canvas) {
    const { lower } = this;
    const rect2 = onScreen(view, place.box);
    const cells2 = (tile?.headers["x-zarrix-cells"] ?? "").split(",").map(Number);
    if (cells2.length !== 4) {
      drawn(lower, view, canvas, rect2);
      return;
    }
    const [y0, x0, height, width] = cells2;
    const { factor } = place;
    const whole = onScreen(view, {
      y0: y0 * factor.y,
      y1: (y0 + canvas.height * height) * factor.y,
      x0: x0 * factor.x,
      x1: (x0 + canvas.width * width) * factor.x
    });
    const smoothed = lower.imageSmoothingEnabled;
    lower.save();
    lower.beginPath();
    lower.rect(rect2.left, rect2.top, rect2.width, rect2.height);
    lower.clip();
    lower.imageSmoothingEnabled = smoothed && tile?.headers["x-zarrix-quality"] !== "coarse";
    drawn(lower, view, canvas, whole);
    lower.restore();
  }
  /** Hatches the chunks of a tile that do not decode. */
  drawDamage(view, place, tile) {
    if (!tile?.damage) return;
    const { axes, factor, box } = place;
    const kept = [axes.y, axes.x, axes.c].filter((axis) => typeof axis === "number").sort((a5, b3) => a5 - b3);
    const [y5, x3] = [kept.indexOf(axes.y), kept.indexOf(axes.x)];
    for (const ends of tile.damage.boxes) {
      const part = {
        y0: box.y0 + ends[y5][0] * factor.y,
        y1: Math.min(box.y1, box.y0 + ends[y5][1] * factor.y),
        x0: box.x0 + ends[x3][0] * factor.x,
        x1: Math.min(box.x1, box.x0 + ends[x3][1] * factor.x)
      };
      this.fill(view, part, hatch(this.lower, "broken"));
    }
  }
  /** Writes what is drawn as attributes of the canvas, which tests compare with the pixels. */
  publish(view, index, look, complete) {
    const { pane } = this;
    Object.assign(this.canvas.dataset, {
      scale: view.scale,
      tall: view.scaleY,
      left: view.left,
      top: view.top,
      index,
      axes: [pane.axes.value.y, pane.axes.value.x],
      range: look.range,
      path: pane.node.path,
      flipped: view.flip ? "1" : "0",
      chunks: pane.chunkMap.value?.measure ?? "",
      over: pane.over.value?.mode ?? "",
      second: pane.over.value?.isSecond.value ? "1" : "0",
      labelled: pane.labels.value ? "1" : "0",
      stored: pane.storedFailed ? "failed" : pane.stored.value ? "1" : "0",
      ready: complete ? "1" : "0",
      drawn: ++this.drawn
    });
  }
  fill(view, box, style) {
    const rect2 = onScreen(view, box);
    this.lower.fillStyle = style;
    this.lower.fillRect(rect2.left, rect2.top, rect2.width, rect2.height);
  }
  painted(entry, place, look, lookKey) {
    const { tile } = entry;
    if (!tile || entry.painted === lookKey) return;
    const layout = layoutOf(tile.shape, place.axes, place.components);
    if (!layout.height || !layout.width) return;
    const image = new ImageData(layout.width, layout.height);
    paint({ type: tile.type, data: tile.data, layout }, look, new Uint32Array(image.data.buffer));
    if (!entry.canvas) {
      entry.canvas = document.createElement("canvas");
      entry.canvas.width = layout.width;
      entry.canvas.height = layout.height;
      this.viewer.tiles.grew(entry, image.data.length);
    }
    entry.canvas.getContext("2d")?.putImageData(image, 0, 0);
    entry.painted = lookKey;
  }
  drawMissing(view, index) {
    const { viewer, pane, lower } = this;
    const missing = viewer.showMissing.value ? missingOf(viewer, pane, index, () => this.schedule()) : null;
    if (!missing) return;
    const { height, width } = pane.extent;
    const box = visible(view, height, width);
    const style = hatch(lower, "missing");
    const { rows, columns } = missing;
    const small = Math.min(view.scaleY * (rows.at(1) - rows.at(0)), view.scale * (columns.at(1) - columns.at(0))) < 4;
    if (small) {
      lower.imageSmoothingEnabled = false;
      const rect2 = onScreen(view, { y0: 0, y1: height, x0: 0, x1: width });
      drawn(lower, view, missing.picture(), rect2);
      return;
    }
    for (const tile of tilesIn(box, rows, columns)) {
      if (missing.at(rows.find(tile.y0), columns.find(tile.x0))) this.fill(view, tile, style);
    }
  }
  drawMarks(view = this.viewport()) {
    const { upper, viewer, pane } = this;
    const { canvas } = upper;
    upper.clearRect(0, 0, canvas.width, canvas.height);
    drawMarks(upper, view, viewer, pane);
  }
};
function loadedOf(tiles) {
  return tiles.flatMap(({ place, entry }) => {
    const tile = entry?.tile;
    return tile ? [{ tile, layout: layoutOf(tile.shape, place.axes, place.components) }] : [];
  });
}
function drawn(context, view, canvas, { left, top, width, height }) {
  if (!view.flip) {
    context.drawImage(canvas, left, top, width, height);
    return;
  }
  context.save();
  context.translate(0, 2 * top + height);
  context.scale(1, -1);
  context.drawImage(canvas, left, top, width, height);
  context.restore();
}

// src/ui/Cells.tsx
var ROWS = 50;
var COLUMNS = 20;
function Cells({ viewer, pane }) {
  const found = useSignal(null);
  const failure = useSignal("");
  const row = useSignal(0);
  const column = useSignal(0);
  const { shape, path } = pane.node;
  const rank = shape.length;
  const { y: y5, x: x3 } = pane.axes.value;
  const down = rank < 2 ? rank ? 0 : null : y5 ?? x3 ?? rank - 2;
  const across = rank < 2 || pane.kind.value === "ragged" ? null : y5 === void 0 ? null : x3 ?? null;
  const rows = down === null ? 1 : shape[down];
  const columns = across === null ? 1 : shape[across];
  const at = viewer.indexOf(pane);
  const sel = shape.map((_4, axis) => {
    if (axis === down) return `${row.value}:${Math.min(rows, row.value + ROWS)}`;
    if (axis === across) return `${column.value}:${Math.min(columns, column.value + COLUMNS)}`;
    return String(at[axis]);
  }).join(",");
  A2(() => {
    let current = true;
    viewer.api.cells(path, sel, pane.field.value).then((cells3) => {
      if (!current) return;
      found.value = cells3;
      failure.value = "";
    }).catch((error) => {
      if (current) failure.value = error instanceof Error ? error.message : String(error);
      viewer.note(error);
    });
    return () => {
      current = false;
    };
  }, [path, sel, pane.field.value, viewer.connection.offline.value]);
  const cells2 = found.value?.cells ?? [];
  const swapped = down !== null && across !== null && across < down;
  const table = found.value;
  if (table?.columns && table.rows) return /* @__PURE__ */ a4(Fields, { pane, table, begin: row.value, pages: down === null ? null : /* @__PURE__ */ a4(Pages, { name: pane.dimension(down), begin: row.value, step: ROWS, length: rows, onBegin: (begin) => row.value = begin }) });
  const shownColumns = across === null ? 1 : Math.min(COLUMNS, columns - column.value);
  const shownRows = down === null ? 1 : Math.min(ROWS, rows - row.value);
  const cell = (r4, c4) => cells2[swapped ? c4 * shownRows + r4 : r4 * shownColumns + c4] ?? "";
  return /* @__PURE__ */ a4("div", { class: "frame cells", tabIndex: 0, role: "region", "aria-label": `Values of ${path || "the array"}`, children: [
    failure.value && /* @__PURE__ */ a4("p", { class: "notice", children: /* @__PURE__ */ a4("bdi", { children: failure.value }) }),
    /* @__PURE__ */ a4("p", { class: "pages", children: [
      down !== null && /* @__PURE__ */ a4(Pages, { name: pane.dimension(down), begin: row.value, step: ROWS, length: rows, onBegin: (begin) => row.value = begin }),
      across !== null && /* @__PURE__ */ a4(Pages, { name: pane.dimension(across), begin: column.value, step: COLUMNS, length: columns, onBegin: (begin) => column.value = begin })
    ] }),
    found.value && /* @__PURE__ */ a4("table", { children: [
      across !== null && /* @__PURE__ */ a4("thead", { children: /* @__PURE__ */ a4("tr", { children: [
        /* @__PURE__ */ a4("td", {}),
        Array.from({ length: shownColumns }, (_4, c4) => /* @__PURE__ */ a4("th", { scope: "col", children: column.value + c4 }, c4))
      ] }) }),
      /* @__PURE__ */ a4("tbody", { children: Array.from({ length: shownRows }, (_4, r4) => /* @__PURE__ */ a4("tr", { children: [
        down === null ? null : /* @__PURE__ */ a4("th", { scope: "row", children: row.value + r4 }),
        Array.from({ length: shownColumns }, (_5, c4) => /* @__PURE__ */ a4("td", { children: /* @__PURE__ */ a4("bdi", { children: cell(r4, c4) }) }, c4))
      ] }, r4)) })
    ] })
  ] });
}
function Fields({ pane, table, begin, pages }) {
  return /* @__PURE__ */ a4("div", { class: "frame cells", tabIndex: 0, role: "region", "aria-label": `Values of ${pane.node.path || "the array"}`, children: [
    /* @__PURE__ */ a4("p", { class: "pages", children: pages }),
    /* @__PURE__ */ a4("table", { children: [
      /* @__PURE__ */ a4("thead", { children: /* @__PURE__ */ a4("tr", { children: [
        /* @__PURE__ */ a4("td", {}),
        table.columns?.map((name) => /* @__PURE__ */ a4("th", { scope: "col", children: /* @__PURE__ */ a4("bdi", { children: name }) }, name))
      ] }) }),
      /* @__PURE__ */ a4("tbody", { children: table.rows?.map((texts, r4) => /* @__PURE__ */ a4("tr", { children: [
        /* @__PURE__ */ a4("th", { scope: "row", children: begin + r4 }),
        texts.map((text, c4) => /* @__PURE__ */ a4("td", { children: /* @__PURE__ */ a4("bdi", { children: text }) }, c4))
      ] }, r4)) })
    ] })
  ] });
}
function Pages({ name, begin, step, length, onBegin }) {
  if (length <= step) return null;
  const to = (value) => onBegin(Math.max(0, Math.min(Math.max(0, length - step), value)));
  return /* @__PURE__ */ a4("span", { class: "page", children: [
    /* @__PURE__ */ a4("button", { type: "button", "aria-label": `${name} before`, disabled: begin === 0, onClick: () => to(begin - step), children: "◂" }),
    /* @__PURE__ */ a4("label", { children: [
      /* @__PURE__ */ a4("bdi", { children: name }),
      " ",
      /* @__PURE__ */ a4("input", { type: "number", min: "0", max: length - 1, value: begin, onChange: (event) => to(Math.round(Number(event.currentTarget.value)) || 0) })
    ] }),
    " ",
    "to ",
    Math.min(length, begin + step) - 1,
    " of ",
    length,
    /* @__PURE__ */ a4("button", { type: "button", "aria-label": `${name} after`, disabled: begin + step >= length, onClick: () => to(begin + step), children: "▸" })
  ] });
}

// src/ui/Compare.tsx
var WORDS = { labels: "labels of", blink: "take turns with", difference: "minus" };
var TURN_MS = 700;
function Compare({ viewer, pane }) {
  const over = pane.over.value;
  if (over) return /* @__PURE__ */ a4(Chosen, { pane, over });
  const siblings = pane.related.value?.siblings ?? [];
  const choices = siblings.flatMap((sibling) => modesOf(pane, sibling).map((mode) => ({ mode, path: sibling.path })));
  if (!choices.length) return null;
  return /* @__PURE__ */ a4(
    "select",
    {
      "aria-label": `Compare ${pane.node.path} with another array`,
      value: "",
      onChange: (event) => {
        const choice = choices[Number(event.currentTarget.value || Number.NaN)];
        event.currentTarget.value = "";
        if (choice) void viewer.putOver(pane, choice.path, choice.mode);
      },
      children: [
        /* @__PURE__ */ a4("option", { value: "", children: "with…" }),
        MODES.flatMap(
          (mode) => choices.map((choice, at) => choice.mode === mode && /* @__PURE__ */ a4("option", { value: at, children: [
            WORDS[mode],
            " ",
            choice.path
          ] }, mode + choice.path))
        )
      ]
    }
  );
}
function Chosen({ pane, over }) {
  const { path } = over.pane.node;
  const { mode } = over;
  const byHand = over.byHand.value;
  A2(() => {
    if (mode !== "blink" || byHand) return;
    const timer = setInterval(() => over.isSecond.value = !over.isSecond.value, TURN_MS);
    return () => clearInterval(timer);
  }, [over, byHand]);
  return /* @__PURE__ */ a4("span", { class: "over", children: [
    WORDS[mode],
    " ",
    /* @__PURE__ */ a4("bdi", { children: path.split("/").pop() }),
    mode === "labels" && /* @__PURE__ */ a4($, { children: [
      /* @__PURE__ */ a4(
        "input",
        {
          type: "range",
          min: "0",
          max: "1",
          step: "0.05",
          "aria-label": "Opacity of the labels",
          value: over.opacity.value,
          onInput: (event) => over.opacity.value = Number(event.currentTarget.value)
        }
      ),
      /* @__PURE__ */ a4("label", { children: [
        /* @__PURE__ */ a4("input", { type: "checkbox", checked: over.outlines.value, onChange: (event) => over.outlines.value = event.currentTarget.checked }),
        "outlines"
      ] })
    ] }),
    mode === "blink" && /* @__PURE__ */ a4($, { children: [
      /* @__PURE__ */ a4("button", { type: "button", onClick: () => {
        over.byHand.value = true;
        over.isSecond.value = !over.isSecond.value;
      }, children: "other one" }),
      /* @__PURE__ */ a4("label", { children: [
        /* @__PURE__ */ a4("input", { type: "checkbox", checked: !byHand, onChange: (event) => over.byHand.value = !event.currentTarget.checked }),
        "by itself"
      ] })
    ] }),
    /* @__PURE__ */ a4("button", { type: "button", "aria-label": `Remove ${path} from the picture`, onClick: () => pane.setOver(null), children: "✕" })
  ] });
}

// src/ui/pointer.ts
var Pointer = class {
  constructor(viewer, picture, element, onValue) {
    this.viewer = viewer;
    this.picture = picture;
    this.element = element;
    this.onValue = onValue;
    this.on("pointerdown", this.down);
    this.on("pointermove", this.move);
    this.on("pointerup", this.up);
    this.on("pointercancel", () => this.drag = null);
    this.on("pointerleave", () => {
      if (!this.drag && document.activeElement !== element) this.viewer.cursor.value = null;
    });
    this.on("wheel", this.wheel);
    this.on("keydown", this.key);
  }
  viewer;
  picture;
  element;
  onValue;
  drag = null;
  /** Where the region of the keyboard began. */
  anchor = null;
  /** Where the line of the keyboard began. */
  begin = null;
  asking = null;
  timer = 0;
  stops = [];
  on(name, call) {
    this.element.addEventListener(name, call, { passive: false });
    this.stops.push(() => this.element.removeEventListener(name, call));
  }
  dispose() {
    for (const stop of this.stops) stop();
    this.asking?.abort();
    clearTimeout(this.timer);
  }
  /** The element below a position of the pointer; it may lie outside of the plane. */
  elementAt(event) {
    const rect2 = this.element.getBoundingClientRect();
    const view = this.picture.viewport();
    const { height, width } = this.picture.pane.extent;
    const x3 = ((event.clientX - rect2.left) * devicePixelRatio - view.left) / view.scale;
    const y5 = screenRow(view, ((event.clientY - rect2.top) * devicePixelRatio - view.top) / view.scaleY);
    return { row: Math.floor(y5), column: Math.floor(x3), fy: y5 / height, fx: x3 / width };
  }
  down = (event) => {
    const { row, column } = this.elementAt(event);
    const kind = event.shiftKey || event.button === 1 ? "move" : this.viewer.drawsLine.value ? "line" : "region";
    if (event.button > 1) return;
    event.preventDefault();
    this.element.focus();
    this.element.setPointerCapture(event.pointerId);
    this.drag = { kind, x: event.clientX, y: event.clientY, row, column, moved: false };
  };
  move = (event) => {
    const place = this.elementAt(event);
    const { drag, viewer, picture } = this;
    if (drag) {
      if (Math.abs(event.clientX - drag.x) + Math.abs(event.clientY - drag.y) > 3) drag.moved = true;
      if (drag.kind === "move") {
        this.shift(event.clientX - drag.x, event.clientY - drag.y);
        drag.x = event.clientX;
        drag.y = event.clientY;
      } else if (drag.moved && drag.kind === "line") {
        viewer.line.value = { pane: picture.pane, from: this.within(drag), to: this.within(place) };
      } else if (drag.moved) {
        viewer.region.value = { pane: picture.pane, box: this.boxOf(drag, place) };
      }
    }
    const inside = place.fy >= 0 && place.fy < 1 && place.fx >= 0 && place.fx < 1;
    if (inside) this.point(place.fy, place.fx);
    else if (!drag) {
      viewer.cursor.value = null;
      this.onValue("");
    }
  };
  up = () => {
    const { drag, viewer, picture } = this;
    this.drag = null;
    if (!drag || drag.moved || drag.kind === "move") return;
    const { height, width } = picture.pane.extent;
    if (drag.row < 0 || drag.row >= height || drag.column < 0 || drag.column >= width) viewer.region.value = null;
    else this.choose(drag.row, drag.column);
  };
  /** An element was clicked: the cross goes there, or its series is shown. */
  choose(row, column) {
    const { viewer, picture } = this;
    if (picture.pane.cross) viewer.moveCross(picture.pane, row, column);
    else viewer.series.value = { pane: picture.pane, row, column };
  }
  /** The nearest element of the plane. */
  within({ row, column }) {
    const { height, width } = this.picture.pane.extent;
    const clip = (value, end) => Math.max(0, Math.min(end - 1, value));
    return { row: clip(row, height), column: clip(column, width) };
  }
  boxOf(one, two) {
    const { height, width } = this.picture.pane.extent;
    const clip = (value, end) => Math.max(0, Math.min(end - 1, value));
    const rows = [clip(one.row, height), clip(two.row, height)].sort((a5, b3) => a5 - b3);
    const columns = [clip(one.column, width), clip(two.column, width)].sort((a5, b3) => a5 - b3);
    return { y0: rows[0], y1: rows[1] + 1, x0: columns[0], x1: columns[1] + 1 };
  }
  point(fy, fx) {
    const { pane } = this.picture;
    const { height, width } = pane.extent;
    const before = this.viewer.cursor.value;
    const row = Math.floor(fy * height);
    const column = Math.floor(fx * width);
    this.viewer.cursor.value = { pane, fy, fx };
    if (before?.pane === pane && Math.floor(before.fy * height) === row && Math.floor(before.fx * width) === column) return;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.ask(row, column), 40);
  }
  async ask(row, column) {
    const { viewer } = this;
    const { pane } = this.picture;
    const { y: y5, x: x3, c: c4 } = pane.axes.value;
    const index = viewer.indexOf(pane).map((value, axis) => {
      if (axis === y5) return String(row);
      if (axis === x3) return String(column);
      return axis === c4 && pane.node.shape[axis] <= 16 ? ":" : String(value);
    });
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    try {
      if (pane.projection.value) return await this.askProjected(row, column, asking.signal);
      const value = await viewer.api.value(pane.node.path, index.join(","), { field: pane.field.value, as: pane.form }, asking.signal);
      if (asking.signal.aborted) return;
      const text = this.described(row, column, value) + await this.ofSecond(row, column, asking.signal);
      if (asking.signal.aborted) return;
      this.onValue(text);
      if (document.activeElement === this.element) viewer.spoken.value = text;
    } catch (error) {
      if (!asking.signal.aborted) {
        this.onValue(error instanceof Error ? error.message : String(error));
        viewer.note(error);
      }
    }
  }
  /** The value of the second array of the picture, as text. */
  async ofSecond(row, column, signal) {
    const { viewer } = this;
    const { pane } = this.picture;
    const over = pane.over.value;
    if (!over) return "";
    const index = over.placeOf(viewer.indexOf(pane), row, column);
    const { text, texts, meant } = await viewer.api.value(over.pane.node.path, index, { as: over.pane.form }, signal);
    return `; ${over.pane.node.path}: ${meant?.[0] ?? text ?? texts?.join(", ")}`;
  }
  /** The largest, smallest or mean value along the axis of a projection. */
  async askProjected(row, column, signal) {
    const { viewer } = this;
    const { pane } = this.picture;
    const projection = pane.projection.value;
    if (!projection) return;
    const sel = viewer.selectionOf(pane, { y0: row, y1: row + 1, x0: column, x1: column + 1 });
    const found = await viewer.api.stats(pane.node.path, sel, { bins: 1, field: pane.field.value, as: pane.form }, signal);
    if (signal.aborted) return;
    const number2 = found[projection.how];
    const unit = pane.node.unit && pane.node.unit !== "1" ? ` ${symbol(pane.node.unit)}` : "";
    this.onValue(`${this.placed(row, column)}: ${number2 === null ? "no number" : `${number2}${unit}`}, ${pane.projected}`);
  }
  described(row, column, value) {
    const { pane } = this.picture;
    const stated = value.texts ? `(${value.texts.join(", ")})` : value.text;
    const unit = pane.node.unit && pane.node.unit !== "1" ? ` ${symbol(pane.node.unit)}` : "";
    const meant = value.meant && (value.meant.length > 1 ? `(${value.meant.join(", ")})` : value.meant[0]);
    const text = meant ? `${meant}${meant === "missing" ? "" : unit} (stored ${stated})` : `${stated}${pane.form === "raw" && pane.node.decodes ? "" : unit}`;
    const missing = missingOf(this.viewer, pane, this.viewer.indexOf(pane), () => {
    });
    const stored = missing?.at(missing.rows.find(row), missing.columns.find(column)) ? ", not stored" : "";
    const map = pane.chunkMap.value;
    const measured = map?.at(row, column);
    const told = map && typeof measured === "number" ? `, ${map.measure} ${map.text(measured)}` : "";
    return `${this.placed(row, column)}: ${text}, chunk ${value.chunk.join(".")}${stored}${told}`;
  }
  placed(row, column) {
    const { pane } = this.picture;
    const { y: y5 = 0, x: x3 = 0 } = pane.axes.value;
    return `${pane.placeOf(y5, row)} ${pane.placeOf(x3, column)}`;
  }
  shift(dx, dy) {
    const { height, width } = this.picture.pane.extent;
    const [cx, cy, span] = this.picture.seen();
    const { scale, scaleY } = this.picture.viewport();
    const shownHeight = span * height * scaleY / (width * scale);
    const down = this.picture.pane.flipped.value ? -dy : dy;
    this.viewer.viewOf(this.picture.pane).value = [cx - dx / span, cy - down / shownHeight, span];
  }
  /** Zooms so that a point of the plane, in fractions, stays where it is on the screen. */
  zoom(factor, fy, fx) {
    const [cx, cy, span] = this.picture.seen();
    const { width } = this.picture.pane.extent;
    const next = Math.max(16, Math.min(width * 128 / devicePixelRatio, span * factor));
    const real = next / span;
    this.viewer.viewOf(this.picture.pane).value = [fx + (cx - fx) / real, fy + (cy - fy) / real, next];
  }
  wheel = (event) => {
    event.preventDefault();
    const { fy, fx } = this.elementAt(event);
    const pixels = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    this.zoom(2 ** (-pixels / 240), fy, fx);
  };
  key = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { viewer, picture } = this;
    const { pane } = picture;
    const { height, width } = pane.extent;
    const cursor = viewer.cursor.value?.pane === pane ? viewer.cursor.value : { fy: 0.5, fx: 0.5 };
    const row = Math.min(height - 1, Math.floor(cursor.fy * height));
    const column = Math.min(width - 1, Math.floor(cursor.fx * width));
    const go = (down, dx) => {
      if (event.shiftKey) return this.shift(-dx * 40, -down * 40);
      const dy = pane.flipped.value ? -down : down;
      const next = {
        row: Math.max(0, Math.min(height - 1, row + dy)),
        column: Math.max(0, Math.min(width - 1, column + dx))
      };
      this.point((next.row + 0.5) / height, (next.column + 0.5) / width);
      if (this.anchor) viewer.region.value = { pane, box: this.boxOf(this.anchor, next) };
      if (this.begin) viewer.line.value = { pane, from: this.begin, to: next };
    };
    const actions = {
      ArrowUp: () => go(-1, 0),
      ArrowDown: () => go(1, 0),
      ArrowLeft: () => go(0, -1),
      ArrowRight: () => go(0, 1),
      "+": () => this.zoom(1.5, cursor.fy, cursor.fx),
      "=": () => this.zoom(1.5, cursor.fy, cursor.fx),
      "-": () => this.zoom(1 / 1.5, cursor.fy, cursor.fx),
      "0": () => viewer.fit(),
      "1": () => viewer.viewOf(pane).value = [cursor.fx, cursor.fy, width / devicePixelRatio],
      Enter: () => this.choose(row, column),
      r: () => {
        this.anchor = this.anchor ? null : { row, column };
        if (this.anchor) viewer.region.value = { pane, box: this.boxOf(this.anchor, this.anchor) };
        viewer.spoken.value = this.anchor ? "A region begins. Move the cursor and press r." : "The region ends.";
      },
      s: () => viewer.pin(),
      l: () => {
        this.begin = this.begin ? null : { row, column };
        viewer.spoken.value = this.begin ? "A line begins. Move the cursor and press l." : "The line ends.";
      },
      Escape: () => {
        this.anchor = null;
        this.begin = null;
        viewer.line.value = null;
        viewer.region.value = null;
      }
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };
};

// src/ui/Wheel.tsx
function Wheel({ pane }) {
  const canvas = T2(null);
  const legend = legendOf(pane);
  const side = Math.round(SIDE * devicePixelRatio);
  A2(() => {
    const context = canvas.current?.getContext("2d");
    if (context && legend) context.putImageData(legend.disk(side), 0, 0);
  }, [pane.kind.value, side, legend !== null]);
  if (!legend) return null;
  return /* @__PURE__ */ a4("figure", { class: "wheel", "aria-label": legend.words, children: [
    /* @__PURE__ */ a4("canvas", { ref: canvas, width: side, height: side, "aria-hidden": "true" }),
    /* @__PURE__ */ a4("figcaption", { "aria-hidden": "true", children: legend.caption.map((line) => /* @__PURE__ */ a4("span", { children: line }, line)) })
  ] });
}

// src/ui/Pane.tsx
function PaneView({ viewer, pane, pictures }) {
  const { node } = pane;
  const active = viewer.active.value === pane;
  const kind = pane.kind.value;
  const name = node.path || viewer.connection.hello.value?.title || "array";
  const { y: y5, x: x3 } = pane.axes.value;
  const plane = pane.cross && y5 !== void 0 && x3 !== void 0 ? `${pane.dimension(y5)} × ${pane.dimension(x3)}` : "";
  return /* @__PURE__ */ a4("section", { class: `pane ${active ? "active" : ""}`, "aria-label": [name, plane].filter(Boolean).join(", "), onFocusCapture: () => viewer.activate(pane), onPointerDown: () => viewer.activate(pane), children: [
    /* @__PURE__ */ a4("header", { children: [
      /* @__PURE__ */ a4("h2", { title: name, children: /* @__PURE__ */ a4("bdi", { children: name }) }),
      /* @__PURE__ */ a4("span", { class: "facts", children: [
        plane && `${plane} of `,
        node.shape.map((length, axis) => `${node.dims?.[axis] ? `${node.dims[axis]} ` : ""}${length}`).join(" × "),
        " ",
        node.dtype.length > 40 ? "struct" : node.dtype
      ] }),
      /* @__PURE__ */ a4(Beside, { viewer, pane }),
      viewer.panes.value.length > 1 && /* @__PURE__ */ a4("button", { type: "button", "aria-label": `Close ${[name, plane].filter(Boolean).join(", ")}`, onClick: () => viewer.close(pane), children: "✕" })
    ] }),
    (!pane.cross || viewer.panes.value.find((one) => one.cross) === pane) && /* @__PURE__ */ a4("div", { class: "controls", children: [
      /* @__PURE__ */ a4("label", { children: [
        /* @__PURE__ */ a4("span", { children: "kind" }),
        " ",
        /* @__PURE__ */ a4("select", { value: kind, onChange: (event) => viewer.setKind(pane, event.currentTarget.value), children: allKinds(node).map((one) => /* @__PURE__ */ a4("option", { value: one, children: one }, one)) })
      ] }),
      node.fields && /* @__PURE__ */ a4("label", { children: [
        /* @__PURE__ */ a4("span", { children: "field" }),
        " ",
        /* @__PURE__ */ a4("select", { value: pane.field.value ?? "", onChange: (event) => {
          pane.field.value = event.currentTarget.value || void 0;
          pane.found.value = null;
        }, children: [
          !pane.picture && kind !== "line" && /* @__PURE__ */ a4("option", { value: "", children: "all fields" }),
          node.fields.map((field) => /* @__PURE__ */ a4("option", { value: field.name, children: [
            field.name,
            " ",
            field.dtype
          ] }, field.name))
        ] })
      ] }),
      pane.picture && !pane.chunkMap.value && /* @__PURE__ */ a4(Looks, { pane }),
      pane.picture && pane.tileType && /* @__PURE__ */ a4(Depth, { viewer, pane }),
      pane.picture && pane.tileType && /* @__PURE__ */ a4("label", { children: [
        /* @__PURE__ */ a4("span", { children: "chunks" }),
        " ",
        /* @__PURE__ */ a4(
          "select",
          {
            "aria-label": "By what chunks are coloured",
            value: pane.chunkMap.value?.measure ?? "",
            onChange: (event) => viewer.mapChunks(pane, event.currentTarget.value || null),
            children: [
              /* @__PURE__ */ a4("option", { value: "", children: "off" }),
              MEASURES.map((measure) => /* @__PURE__ */ a4("option", { value: measure, children: measure }, measure))
            ]
          }
        )
      ] }),
      pane.picture && pane.tileType && /* @__PURE__ */ a4(Compare, { viewer, pane }),
      node.decodes && /* @__PURE__ */ a4("label", { title: "Stored values: packed, with the numbers that stand for missing ones", children: [
        /* @__PURE__ */ a4(
          "input",
          {
            type: "checkbox",
            checked: pane.raw.value,
            onChange: (event) => {
              pane.raw.value = event.currentTarget.checked;
              pane.range.value = null;
              pane.found.value = null;
              pane.origin.value = null;
            }
          }
        ),
        "raw values"
      ] }),
      pane.picture && pane.labels.value?.[pane.axes.value.y ?? -1] && /* @__PURE__ */ a4("label", { title: "The first row is at the bottom", children: [
        /* @__PURE__ */ a4("input", { type: "checkbox", checked: pane.flipped.value, onChange: (event) => pane.upright.value = !event.currentTarget.checked }),
        "flipped"
      ] }),
      pane.picture && isMap(pane) && /* @__PURE__ */ a4("label", { children: [
        /* @__PURE__ */ a4("input", { type: "checkbox", checked: pane.showCoast.value, onChange: (event) => pane.showCoast.value = event.currentTarget.checked }),
        "coast"
      ] })
    ] }),
    pane.picture && pane.tileType ? /* @__PURE__ */ a4(Canvas, { viewer, pane, pictures }) : kind === "line" ? /* @__PURE__ */ a4(Line, { viewer, pane }) : /* @__PURE__ */ a4(Cells, { viewer, pane })
  ] });
}
function Looks({ pane }) {
  const kind = pane.kind.value;
  const ranged = kind !== "labels" && kind !== "mask" && kind !== "channels";
  const range = pane.look.value.range;
  const set = (at, text) => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value)) return;
    const next = [...range];
    next[at] = value;
    pane.range.value = next;
  };
  return /* @__PURE__ */ a4($, { children: [
    (kind === "gray" || kind === "depth") && /* @__PURE__ */ a4("label", { children: [
      /* @__PURE__ */ a4("span", { children: "map" }),
      " ",
      /* @__PURE__ */ a4("select", { value: pane.map.value, onChange: (event) => pane.map.value = event.currentTarget.value, children: MAPS.map((map) => /* @__PURE__ */ a4("option", { value: map, children: map }, map)) })
    ] }),
    (kind === "gray" || kind === "depth" || kind === "complex") && /* @__PURE__ */ a4("label", { children: [
      /* @__PURE__ */ a4("span", { children: "scale" }),
      " ",
      /* @__PURE__ */ a4("select", { value: pane.transform.value, onChange: (event) => {
        pane.scaleChosen = true;
        pane.setTransform(event.currentTarget.value);
      }, children: ["linear", "inverse", "log"].filter((one) => kind !== "complex" || one !== "inverse").map((one) => /* @__PURE__ */ a4("option", { value: one, children: one }, one)) })
    ] }),
    ranged && /* @__PURE__ */ a4("span", { class: "range", children: [
      kind === "complex" && "|z| ",
      kind !== "flow" && /* @__PURE__ */ a4("input", { type: "number", step: "any", "aria-label": "Lowest value of the range", value: shortest3(range[0]), onChange: (event) => set(0, event.currentTarget.value) }),
      kind === "flow" ? "longest " : " to ",
      /* @__PURE__ */ a4("input", { type: "number", step: "any", "aria-label": "Highest value of the range", value: shortest3(range[1]), onChange: (event) => set(1, event.currentTarget.value) }),
      /* @__PURE__ */ a4(
        "button",
        {
          type: "button",
          title: "From the smallest to the largest value of this plane",
          onClick: () => pane.findRange(),
          children: "auto"
        }
      ),
      /* @__PURE__ */ a4("label", { title: `The range leaves out the lowest and the highest ${CLIPPED} % of the values of this plane`, children: [
        /* @__PURE__ */ a4(
          "input",
          {
            type: "checkbox",
            checked: pane.clip.value > 0 && pane.range.value === null,
            onChange: (event) => pane.findRange(event.currentTarget.checked ? CLIPPED : 0)
          }
        ),
        CLIPPED,
        "–",
        100 - CLIPPED,
        " %"
      ] }),
      /* @__PURE__ */ a4("label", { title: "A range of its own for each frame", children: [
        /* @__PURE__ */ a4(
          "input",
          {
            type: "checkbox",
            checked: pane.perFrame.value,
            onChange: (event) => {
              pane.perFrame.value = event.currentTarget.checked;
              pane.findRange(pane.clip.value);
            }
          }
        ),
        "each frame"
      ] })
    ] }),
    kind === "labels" && /* @__PURE__ */ a4("label", { children: [
      /* @__PURE__ */ a4("input", { type: "checkbox", checked: pane.outlines.value, onChange: (event) => pane.outlines.value = event.currentTarget.checked }),
      "outlines"
    ] }),
    kind === "channels" && /* @__PURE__ */ a4(Channels, { pane })
  ] });
}
function shortest3(value) {
  return String(Number(value.toPrecision(7)));
}
function Channels({ pane }) {
  const change2 = (at, part) => {
    pane.channels.value = pane.channels.value.with(at, { ...pane.channels.value[at], ...part });
  };
  const names = pane.node.guess.channels ?? [];
  const ranges = pane.look.value.channels;
  return /* @__PURE__ */ a4("span", { class: "channels", children: pane.channels.value.map((channel, at) => {
    const name = names[at]?.name || `channel ${at}`;
    return /* @__PURE__ */ a4("span", { class: "channel", children: [
      /* @__PURE__ */ a4("label", { children: [
        /* @__PURE__ */ a4("input", { type: "checkbox", checked: channel.active, onChange: (event) => change2(at, { active: event.currentTarget.checked }) }),
        /* @__PURE__ */ a4("bdi", { children: name })
      ] }),
      /* @__PURE__ */ a4("input", { type: "color", "aria-label": `Colour of ${name}`, value: channel.color, onInput: (event) => change2(at, { color: event.currentTarget.value }) }),
      /* @__PURE__ */ a4("span", { "aria-hidden": "true", children: "γ" }),
      /* @__PURE__ */ a4(
        "input",
        {
          type: "number",
          min: "0.1",
          max: "5",
          step: "0.1",
          class: "gamma",
          title: "Gamma: below 1, dark values are brighter",
          "aria-label": `Gamma of ${name}`,
          value: channel.gamma,
          onChange: (event) => {
            const gamma = Number(event.currentTarget.value);
            if (gamma >= 0.1 && gamma <= 5) change2(at, { gamma });
          }
        }
      ),
      /* @__PURE__ */ a4("button", { type: "button", "aria-label": `auto: range of ${name} from its values`, onClick: () => {
        pane.foundChannels.value = [];
        change2(at, { range: null });
      }, children: "auto" }),
      [0, 1].map((end) => /* @__PURE__ */ a4(
        "input",
        {
          type: "number",
          step: "any",
          "aria-label": `${end ? "Highest" : "Lowest"} value of ${name}`,
          value: shortest3(ranges[at].range[end]),
          onChange: (event) => {
            const value = Number(event.currentTarget.value);
            const [low, high] = ranges[at].range;
            if (Number.isFinite(value)) change2(at, { range: end ? [low, value] : [value, high] });
          }
        },
        end
      ))
    ] }, name + at);
  }) });
}
function Beside({ viewer, pane }) {
  const shown = new Set(viewer.panes.value.map(({ node }) => node.path));
  const siblings = (pane.related.value?.siblings ?? []).filter(({ path }) => !shown.has(path));
  if (!siblings.length || viewer.panes.value.length >= 6) return null;
  return /* @__PURE__ */ a4(
    "select",
    {
      class: "beside",
      "aria-label": `Show beside ${pane.node.path}`,
      value: "",
      onChange: (event) => {
        const path = event.currentTarget.value;
        event.currentTarget.value = "";
        if (path) void viewer.open(path, true);
      },
      children: [
        /* @__PURE__ */ a4("option", { value: "", children: "beside…" }),
        siblings.map(({ path, shape, guess }) => /* @__PURE__ */ a4("option", { value: path, children: [
          path,
          " (",
          guess.kind,
          " ",
          shape.join("×"),
          ")"
        ] }, path))
      ]
    }
  );
}
function Depth({ viewer, pane }) {
  const { depths } = pane;
  if (!depths.length) return null;
  const { projection } = pane;
  const now = projection.value ? `${projection.value.how}:${projection.value.axis}` : pane.cross ? "cross" : "";
  const named = (axis) => pane.dimension(axis);
  const choose = (choice) => {
    const [how, axis] = choice.split(":");
    if (how === "planes") return viewer.showPlanes(pane, Number(axis));
    if (pane.cross && how === "") return viewer.showOnePlane(pane);
    pane.project(how === "" || how === "cross" ? null : { axis: Number(axis), how });
  };
  return /* @__PURE__ */ a4("label", { children: [
    /* @__PURE__ */ a4("span", { children: "depth" }),
    " ",
    /* @__PURE__ */ a4("select", { class: "depth", value: now, "aria-label": "What is shown along the other axes", onChange: (event) => choose(event.currentTarget.value), children: [
      /* @__PURE__ */ a4("option", { value: "", children: "one plane" }),
      pane.cross && /* @__PURE__ */ a4("option", { value: "cross", children: "three planes" }),
      !pane.cross && depths.map((axis) => /* @__PURE__ */ a4("option", { value: `planes:${axis}`, children: [
        "three planes with ",
        named(axis)
      ] }, `p${axis}`)),
      depths.flatMap((axis) => WAYS.map((how) => /* @__PURE__ */ a4("option", { value: `${how}:${axis}`, children: [
        how,
        " along ",
        named(axis)
      ] }, how + axis)))
    ] })
  ] });
}
function Save({ viewer, pane, picture }) {
  const numbers2 = async (route) => {
    const region = viewer.region.value;
    const sel = viewer.selectionOf(pane, region?.pane === pane ? region.box : null);
    const { body } = await viewer.api.octets(route, { path: pane.node.path, sel, as: pane.form });
    offer(body, `${fileName(pane)}.${route}`);
  };
  const png = () => picture()?.toBlob((blob) => blob && offer(blob, `${fileName(pane)}.png`));
  return /* @__PURE__ */ a4(
    "select",
    {
      class: "save",
      "aria-label": `Save ${fileName(pane)}`,
      value: "",
      onChange: (event) => {
        const choice = event.currentTarget.value;
        event.currentTarget.value = "";
        if (choice === "png") png();
        else if (choice) void numbers2(choice).catch((error) => viewer.report(error));
      },
      children: [
        /* @__PURE__ */ a4("option", { value: "", children: "save…" }),
        /* @__PURE__ */ a4("option", { value: "png", children: "picture as PNG" }),
        !pane.projection.value && /* @__PURE__ */ a4("option", { value: "npy", children: "numbers as npy" }),
        !pane.projection.value && pane.channelCount === 1 && /* @__PURE__ */ a4("option", { value: "csv", children: "numbers as CSV" })
      ]
    }
  );
}
function Canvas({ viewer, pane, pictures }) {
  const seen = T2(null);
  const frame = T2(null);
  const lower = T2(null);
  const upper = T2(null);
  const around = T2(null);
  const value = useSignal("");
  const offline = viewer.connection.offline.value;
  A2(() => {
    if (!offline) value.value = "";
  }, [offline]);
  A2(() => {
    const [box, canvas, overlay, margin] = [frame.current, lower.current, upper.current, around.current];
    if (!box || !canvas || !overlay || !margin) return;
    const picture = new Picture(viewer, pane, canvas, overlay, (view) => surround(margin, view, pane));
    pictures.add(picture);
    seen.current = picture;
    const resize2 = () => {
      const width2 = Math.max(1, Math.round(box.clientWidth * devicePixelRatio));
      const height2 = Math.max(1, Math.round(box.clientHeight * devicePixelRatio));
      if (canvas.width !== width2 || canvas.height !== height2) {
        for (const one of [canvas, overlay]) {
          one.width = width2;
          one.height = height2;
        }
        margin.width = Math.max(1, Math.round(margin.clientWidth * devicePixelRatio));
        margin.height = Math.max(1, Math.round(margin.clientHeight * devicePixelRatio));
        picture.draw();
      }
    };
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => picture.schedule();
    scheme.addEventListener("change", recolour);
    const observer = new ResizeObserver(resize2);
    observer.observe(box);
    const stopDraw = x2(() => {
      void [
        viewer.loaded.value,
        viewer.at.value,
        viewer.viewOf(pane).value,
        pane.projection.value,
        viewer.showMissing.value,
        pane.look.value,
        pane.axes.value,
        pane.kind.value,
        pane.field.value,
        pane.range.value,
        pane.perFrame.value,
        pane.clip.value,
        viewer.playing.value,
        pane.labels.value,
        pane.raw.value,
        pane.flipped.value,
        pane.over.value?.opacity.value,
        pane.over.value?.outlines.value,
        pane.over.value?.isSecond.value,
        pane.chunkMap.value
      ];
      f3(() => picture.schedule());
    });
    const stopMarks = x2(() => {
      void [pane.showCoast.value, pane.labels.value, viewer.cursor.value, viewer.region.value, viewer.series.value, viewer.pins.value, viewer.line.value, viewer.showGrid.value, viewer.broken.value, viewer.windows.value];
      f3(() => picture.drawMarks());
    });
    const pointer = new Pointer(viewer, picture, overlay, (text) => value.value = text);
    return () => {
      stopDraw();
      stopMarks();
      observer.disconnect();
      scheme.removeEventListener("change", recolour);
      pointer.dispose();
      picture.dispose();
      pictures.delete(picture);
    };
  }, [viewer, pane]);
  const { height, width } = pane.extent;
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4("div", { class: "frame", children: [
      /* @__PURE__ */ a4("canvas", { class: "around", ref: around, "aria-hidden": "true" }),
      /* @__PURE__ */ a4("div", { class: `plane ${hasColourBar(pane) || legendOf(pane) ? "" : "no-bar"}`, ref: frame, children: [
        /* @__PURE__ */ a4("canvas", { class: "lower", ref: lower, "aria-hidden": "true" }),
        /* @__PURE__ */ a4(
          "canvas",
          {
            class: "upper",
            ref: upper,
            tabIndex: 0,
            role: "application",
            "aria-label": `Picture of ${pane.node.path || "the array"}, ${height} by ${width}, ${pane.kind.value}. The arrow keys move the cursor; press ? for all keys.`
          }
        )
      ] }),
      /* @__PURE__ */ a4(Save, { viewer, pane, picture: () => {
        const margin = around.current;
        return seen.current && margin ? composed(viewer, seen.current, margin) : null;
      } }),
      /* @__PURE__ */ a4(Wheel, { pane }),
      notes(viewer, pane) && /* @__PURE__ */ a4("span", { class: "quality", children: /* @__PURE__ */ a4("bdi", { children: notes(viewer, pane) }) })
    ] }),
    pane.message.value && /* @__PURE__ */ a4("p", { class: "notice", role: "alert", children: /* @__PURE__ */ a4("bdi", { children: pane.message.value }) }),
    /* @__PURE__ */ a4("output", { class: "value", children: /* @__PURE__ */ a4("bdi", { children: value.value || " " }) })
  ] });
}
function surround(canvas, view, pane) {
  const context = canvas.getContext("2d");
  if (!context) return;
  context.clearRect(0, 0, canvas.width, canvas.height);
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(name).trim();
  drawAxes({
    context,
    view,
    pane,
    text: colour("--text"),
    line: colour("--quiet"),
    ratio: devicePixelRatio,
    hasBar: hasColourBar(pane)
  });
}
function notes(viewer, pane) {
  if (pane.isEmpty) return "the array has no element";
  if (pane.chunkMap.value) return pane.chunkMap.value.described;
  const found = [];
  const over = pane.over.value;
  if (over?.mode === "difference") found.push(`${pane.node.path} minus ${over.pane.node.path}`);
  if (over?.mode === "blink") found.push(over.isSecond.value ? over.pane.node.path : pane.node.path);
  if (pane.projected) found.push(pane.projected);
  if (pane.exceeds.value) found.push("the first part of a long plane: Shift and a drag move it");
  if (pane.origin.value) found.push(`numbers are above ${pane.origin.value.text}`);
  if (pane.quality.value === "coarse") found.push("coarse: one element for each sampled chunk");
  if (pane.quality.value === "step") found.push("every n-th element");
  if (pane.quality.value === "reduced") found.push("pictures decoded in a smaller size");
  if (pane.hidesMissing.value) found.push("not known which chunks are missing");
  const sides = crossSides(viewer.panes.value, pane);
  if (sides) found.push(described(pane, sides));
  if (pane.every.value > 1) found.push(`one of every ${pane.every.value} planes`);
  return found.join("; ");
}

// src/ui/Sliders.tsx
function Sliders({ viewer, player }) {
  const { dimensions } = viewer;
  if (!dimensions.length) return /* @__PURE__ */ a4("p", { class: "quiet", children: viewer.panes.value.some((pane) => pane.projection.value) ? "All other axes are shown." : "All axes are shown." });
  return /* @__PURE__ */ a4($, { children: [
    dimensions.map((dimension) => /* @__PURE__ */ a4(Slider, { viewer, player, dimension }, dimension)),
    viewer.panes.value.some((pane) => pane.picture) && /* @__PURE__ */ a4("p", { class: "speed", children: [
      /* @__PURE__ */ a4("label", { children: [
        /* @__PURE__ */ a4(
          "input",
          {
            type: "number",
            min: "1",
            max: "60",
            value: player.fps.value,
            onInput: (event) => player.fps.value = Math.min(60, Math.max(1, Number(event.currentTarget.value) || 1))
          }
        ),
        " ",
        "frames a second"
      ] }),
      viewer.playing.value !== null && /* @__PURE__ */ a4("output", { class: "rate", children: [
        player.measured.value.toFixed(1),
        " shown, ",
        player.late.value,
        " late"
      ] })
    ] })
  ] });
}
function Slider({ viewer, player, dimension }) {
  const length = viewer.lengthOf(dimension);
  const index = Math.min(viewer.at.value[dimension] ?? 0, Math.max(0, length - 1));
  const set = (text) => {
    const value = Math.round(Number(text));
    if (Number.isFinite(value)) viewer.setIndex(dimension, Math.max(0, Math.min(length - 1, value)));
  };
  const playing = viewer.playing.value === dimension;
  return /* @__PURE__ */ a4("div", { class: "slider", children: [
    /* @__PURE__ */ a4("bdi", { class: "dimension", children: dimension }),
    /* @__PURE__ */ a4(
      "button",
      {
        type: "button",
        "aria-label": `${playing ? "Stop" : "Play"} ${dimension}`,
        "aria-pressed": playing,
        disabled: length < 2,
        onClick: () => player.toggle(dimension),
        children: playing ? "■" : "▶"
      }
    ),
    /* @__PURE__ */ a4(
      "input",
      {
        type: "range",
        min: "0",
        max: Math.max(0, length - 1),
        value: index,
        "aria-label": `Index of ${dimension}`,
        onInput: (event) => set(event.currentTarget.value)
      }
    ),
    /* @__PURE__ */ a4(
      "input",
      {
        type: "number",
        min: "0",
        max: Math.max(0, length - 1),
        value: index,
        "aria-label": `Index of ${dimension} as a number`,
        onInput: (event) => set(event.currentTarget.value)
      }
    ),
    /* @__PURE__ */ a4("span", { class: "of", children: [
      "of ",
      length
    ] }),
    /* @__PURE__ */ a4(Label, { viewer, dimension, index })
  ] });
}
function GoTo({ viewer, dimension, pane, axis }) {
  const failure = useSignal("");
  const go = (text) => {
    failure.value = "";
    if (!text.trim()) return;
    viewer.api.find(pane.node.path, axis, text).then(({ index }) => viewer.setIndex(dimension, index)).catch((error) => {
      failure.value = error instanceof Error ? error.message : String(error);
      viewer.note(error);
    });
  };
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4(
      "input",
      {
        type: "text",
        class: "go-to",
        placeholder: "go to…",
        "aria-label": `Label of ${dimension}`,
        "aria-invalid": failure.value !== "",
        onChange: (event) => go(event.currentTarget.value)
      }
    ),
    failure.value && /* @__PURE__ */ a4("span", { class: "notice", role: "alert", children: /* @__PURE__ */ a4("bdi", { children: failure.value }) })
  ] });
}
var PAGE = 1e3;
var cells = /* @__PURE__ */ new WeakMap();
function coordinate(viewer, path, length, index) {
  let pages = cells.get(viewer);
  if (!pages) cells.set(viewer, pages = /* @__PURE__ */ new Map());
  const begin = Math.floor(index / PAGE) * PAGE;
  const key = `${begin} ${path}`;
  let page2 = pages.get(key);
  if (!page2) {
    page2 = viewer.api.cells(path, `${begin}:${Math.min(length, begin + PAGE)}`).then(({ cells: texts }) => texts);
    pages.set(key, page2);
  }
  return page2.then((texts) => texts[index - begin]);
}
function Label({ viewer, dimension, index }) {
  for (const pane of viewer.panes.value) {
    const axis = pane.otherAxes.find((one) => pane.dimension(one) === dimension);
    const labels = axis === void 0 ? null : pane.labels.value?.[axis];
    if (axis === void 0 || !labels) continue;
    const label2 = labelAt(labels, index);
    return /* @__PURE__ */ a4($, { children: [
      label2 === null ? /* @__PURE__ */ a4(CoordinateValue, { viewer, dimension, index }) : /* @__PURE__ */ a4("output", { class: "coordinate", children: /* @__PURE__ */ a4("bdi", { children: label2 }) }),
      labels.path !== void 0 && /* @__PURE__ */ a4(GoTo, { viewer, dimension, pane, axis })
    ] });
  }
  return /* @__PURE__ */ a4(CoordinateValue, { viewer, dimension, index });
}
function CoordinateValue({ viewer, dimension, index }) {
  const text = useSignal("");
  const found = coordinateOf(viewer.panes.value, dimension);
  A2(() => {
    let current = true;
    text.value = "";
    if (found) {
      coordinate(viewer, found.path, found.length, index).then((value) => current && (text.value = value ?? "")).catch((error) => viewer.note(error));
    }
    return () => {
      current = false;
    };
  }, [found?.path, index]);
  return text.value ? /* @__PURE__ */ a4("output", { class: "coordinate", children: [
    /* @__PURE__ */ a4("bdi", { children: text.value }),
    found?.unit && /* @__PURE__ */ a4("bdi", { children: [
      " ",
      found.unit
    ] })
  ] }) : null;
}
function coordinateOf(panes, dimension) {
  for (const { node, otherAxes, related } of panes) {
    for (const axis of otherAxes) {
      const found = related.value?.coordinates[axis];
      if (found && (node.dims?.[axis] ?? "") === dimension) return { ...found, unit: node.units?.[axis] };
    }
  }
  return null;
}

// src/ui/Tree.tsx
var ROW = 26;
var PAGE2 = 500;
function Tree({ viewer, onChosen }) {
  const hello = viewer.connection.hello.value;
  const branches = w2(() => /* @__PURE__ */ new Map(), [viewer]);
  const changed = useSignal(0);
  const open = useSignal(/* @__PURE__ */ new Set([""]));
  const filter = useSignal("");
  const found = useSignal(null);
  const focused = useSignal(viewer.active.value?.node.path ?? "");
  const top = useSignal(0);
  const height = useSignal(600);
  const box = T2(null);
  const fetchPage = (path, page2) => {
    const branch = branches.get(path) ?? { total: -1, members: [], asked: /* @__PURE__ */ new Set() };
    branches.set(path, branch);
    if (branch.asked.has(page2)) return;
    branch.asked.add(page2);
    viewer.api.tree(path, page2 * PAGE2, PAGE2).then(({ total, members }) => {
      branch.total = total;
      members.forEach((member, at) => branch.members[page2 * PAGE2 + at] = member);
      changed.value++;
    }).catch((error) => {
      branch.asked.delete(page2);
      viewer.report(error);
    });
  };
  const shown = viewer.active.value?.node.path;
  A2(() => {
    if (!shown) return;
    const parts = shown.split("/");
    const paths = parts.slice(0, -1).map((_4, at) => parts.slice(0, at + 1).join("/"));
    open.value = /* @__PURE__ */ new Set([...open.value, ...paths]);
  }, [shown]);
  A2(() => {
    const text = filter.value.trim();
    if (!text) {
      found.value = null;
      return;
    }
    const timer = setTimeout(() => {
      viewer.api.tree("", 0, PAGE2, text).then(({ members, truncated }) => {
        if (filter.value.trim() === text) found.value = { members, truncated: truncated ?? false };
      }).catch((error) => viewer.report(error));
    }, 150);
    return () => clearTimeout(timer);
  }, [filter.value]);
  A2(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => height.value = element.clientHeight);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const rows = w2(() => {
    void changed.value;
    if (found.value) {
      const { members } = found.value;
      return members.map((member, at) => ({ path: member.path, member, level: 1, position: at + 1, total: members.length, page: null }));
    }
    const list = [];
    if (hello?.root.kind === "array") {
      const { root } = hello;
      const member = { path: root.path, name: hello.title, kind: "array", shape: root.shape, dtype: root.dtype, badges: root.badges };
      return [{ path: root.path, member, level: 1, position: 1, total: 1, page: null }];
    }
    const add = (path, level) => {
      const branch = branches.get(path);
      if (!branch || branch.total < 0) {
        list.push({ path: `${path}/…`, member: null, level, position: 1, total: 1, page: [path, 0] });
        return;
      }
      for (let at = 0; at < branch.total; at++) {
        const member = branch.members[at];
        const row = { level, position: at + 1, total: branch.total };
        if (!member) list.push({ ...row, path: `${path}/…${at}`, member: null, page: [path, Math.floor(at / PAGE2)] });
        else {
          list.push({ ...row, path: member.path, member, page: null });
          if (member.kind === "group" && open.value.has(member.path)) add(member.path, level + 1);
        }
      }
    };
    add("", 1);
    return list;
  }, [changed.value, open.value, found.value, hello]);
  const first = Math.max(0, Math.floor(top.value / ROW) - 10);
  const last = Math.min(rows.length, Math.ceil((top.value + height.value) / ROW) + 10);
  const seen = rows.slice(first, last);
  A2(() => {
    for (const { page: page2 } of seen) if (page2) fetchPage(page2[0], page2[1]);
  });
  const focusRow = (at) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, at))];
    const element = box.current;
    if (!row || !element) return;
    focused.value = row.path;
    const y5 = rows.indexOf(row) * ROW;
    if (y5 < element.scrollTop) element.scrollTop = y5;
    else if (y5 + ROW > element.scrollTop + element.clientHeight) element.scrollTop = y5 + ROW - element.clientHeight;
    top.value = element.scrollTop;
    requestAnimationFrame(() => element.querySelector('[role="treeitem"][tabindex="0"]')?.focus());
  };
  const toggle = (path, wanted) => {
    const next = new Set(open.value);
    if (wanted ?? !next.has(path)) next.add(path);
    else next.delete(path);
    open.value = next;
  };
  const choose = (member, beside) => {
    if (member.kind === "broken") viewer.failure.value = `${member.path}: ${member.reason ?? "cannot be read"}`;
    else {
      if (member.kind === "group") toggle(member.path);
      void viewer.open(member.path, beside);
      if (member.kind === "array") onChosen();
    }
  };
  const onKey = (event) => {
    const at = rows.findIndex(({ path }) => path === focused.value);
    const member = rows[at]?.member;
    const isOpen = member?.kind === "group" && open.value.has(member.path);
    const keys = {
      ArrowDown: () => focusRow(at + 1),
      ArrowUp: () => focusRow(at - 1),
      Home: () => focusRow(0),
      End: () => focusRow(rows.length - 1),
      PageDown: () => focusRow(at + Math.floor(height.value / ROW)),
      PageUp: () => focusRow(at - Math.floor(height.value / ROW)),
      ArrowRight: () => {
        if (member?.kind === "group" && !isOpen) toggle(member.path, true);
        else if (isOpen) focusRow(at + 1);
      },
      ArrowLeft: () => {
        if (member && isOpen) toggle(member.path, false);
        else for (let up = at - 1; up >= 0; up--) if (rows[up].level < rows[at].level) return focusRow(up);
      },
      Enter: () => member && choose(member, event.shiftKey),
      " ": () => member && choose(member, event.shiftKey)
    };
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };
  const reachable = seen.some(({ path }) => path === focused.value) ? focused.value : seen[0]?.path;
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4(
      "input",
      {
        class: "tree-filter",
        type: "search",
        placeholder: "Filter",
        "aria-label": "Filter arrays and groups by their paths",
        value: filter.value,
        onInput: (event) => filter.value = event.currentTarget.value
      }
    ),
    /* @__PURE__ */ a4("div", { class: "rows", ref: box, onScroll: (event) => top.value = event.currentTarget.scrollTop, children: [
      /* @__PURE__ */ a4("div", { role: "tree", "aria-label": "Arrays and groups", onKeyDown: onKey, class: "rows-inner", ref: (element) => {
        if (element) element.style.height = `${rows.length * ROW}px`;
      }, children: seen.map((row, at) => /* @__PURE__ */ a4(
        TreeRow,
        {
          row,
          top: (first + at) * ROW,
          viewer,
          open,
          full: found.value !== null,
          reachable: row.path === reachable,
          onFocus: () => focused.value = row.path,
          onChoose: choose
        },
        row.path
      )) }),
      found.value && !found.value.members.length && /* @__PURE__ */ a4("p", { class: "quiet", children: "No path contains this text." }),
      found.value?.truncated && /* @__PURE__ */ a4("p", { class: "quiet", children: "There are more." })
    ] })
  ] });
}
function TreeRow({ row, top, viewer, open, full, reachable, onFocus, onChoose }) {
  const { member, level, position, total } = row;
  const place = (element) => {
    if (!element) return;
    element.style.top = `${top}px`;
    element.style.paddingInlineStart = `${level * 14 - 8}px`;
  };
  const shared = {
    role: "treeitem",
    "aria-level": level,
    "aria-posinset": position,
    "aria-setsize": total,
    tabIndex: reachable ? 0 : -1,
    onFocus,
    ref: place
  };
  if (!member) return /* @__PURE__ */ a4("div", { class: "row", ...shared, "aria-label": "being read", children: "…" });
  const group = member.kind === "group";
  const expanded = group && !full ? open.value.has(member.path) : void 0;
  const shown = viewer.panes.value.some(({ node }) => node.path === member.path);
  const facts = member.kind === "array" ? `${(member.shape ?? []).join(" × ")} ${member.dtype ?? ""}` : "";
  return /* @__PURE__ */ a4(
    "div",
    {
      class: `row ${member.kind}`,
      ...shared,
      "aria-expanded": expanded,
      "aria-selected": shown,
      title: [member.path, facts, member.nbytes === void 0 ? "" : bytes(member.nbytes)].filter(Boolean).join("\n"),
      onClick: (event) => onChoose(member, event.shiftKey || event.ctrlKey),
      children: [
        /* @__PURE__ */ a4("span", { class: "twist", "aria-hidden": "true", children: group && !full ? expanded ? "▾" : "▸" : "" }),
        /* @__PURE__ */ a4("bdi", { class: "name", children: full ? member.path : member.name }),
        member.badges?.map((badge) => /* @__PURE__ */ a4("span", { class: "badge", children: badge }, badge)),
        member.kind === "array" && /* @__PURE__ */ a4("span", { class: "facts", children: [
          short(member.dtype ?? ""),
          " ",
          member.shape?.join("×")
        ] }),
        member.kind === "broken" && /* @__PURE__ */ a4("span", { class: "facts", children: "broken" })
      ]
    }
  );
}
function short(dtype) {
  const match = /^(u?int|float|complex)(\d+)$/.exec(dtype);
  if (!match) return dtype.length > 15 ? `${dtype.slice(0, 14)}…` : dtype;
  return `${{ uint: "u", int: "i", float: "f", complex: "c" }[match[1]]}${Number(match[2]) / 8}`;
}

// src/ui/App.tsx
function App({ viewer }) {
  const pictures = T2(/* @__PURE__ */ new Set());
  const player = w2(() => new Player(viewer, () => [...pictures.current]), [viewer]);
  const help = useSignal(false);
  const narrow = matchMedia("(max-width: 900px)");
  const side = useSignal(!narrow.matches);
  const tree = useSignal(!narrow.matches);
  const root = T2(null);
  const hello = viewer.connection.hello.value;
  A2(() => {
    const element = root.current;
    const onKey = (event) => {
      const target = event.target;
      const typing = target.closest("input, select, textarea, [contenteditable]");
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape" && help.value) help.value = false;
      if (typing) return;
      const dimension = viewer.playing.value ?? viewer.dimensions[0];
      const step = (by) => {
        const length = viewer.lengthOf(dimension);
        if (!length) return;
        viewer.setIndex(dimension, ((viewer.at.value[dimension] ?? 0) + by + length) % length);
      };
      if (event.key === "?") help.value = !help.value;
      else if (event.key === "/") element?.querySelector(".tree-filter")?.focus();
      else if (event.key === "[" && dimension) step(-1);
      else if (event.key === "]" && dimension) step(1);
      else if (event.key === "p" && dimension) player.toggle(dimension);
      else if (event.key === "g") viewer.showGrid.value = !viewer.showGrid.value;
      else if (event.key === "m") viewer.showMissing.value = !viewer.showMissing.value;
      else return;
      event.preventDefault();
    };
    element?.addEventListener("keydown", onKey);
    const page2 = element?.parentElement?.id === "zarrix-viewer" ? document.body : null;
    const onBody = (event) => event.target === document.body && onKey(event);
    page2?.addEventListener("keydown", onBody);
    return () => {
      element?.removeEventListener("keydown", onKey);
      page2?.removeEventListener("keydown", onBody);
      player.stop();
    };
  }, [viewer]);
  const panes = viewer.panes.value;
  const waiting = !side.value && Boolean(viewer.series.value || viewer.region.value || viewer.line.value);
  return /* @__PURE__ */ a4("div", { class: `app ${side.value ? "" : "no-side"} ${tree.value ? "" : "no-tree"}`, ref: root, children: [
    /* @__PURE__ */ a4("header", { class: "bar", children: [
      /* @__PURE__ */ a4("h1", { children: /* @__PURE__ */ a4("bdi", { children: hello?.title ?? "zarrix view" }) }),
      /* @__PURE__ */ a4("button", { type: "button", "aria-pressed": tree.value, onClick: () => {
        tree.value = !tree.value;
        if (narrow.matches) side.value = false;
      }, children: "Tree" }),
      /* @__PURE__ */ a4("button", { type: "button", "aria-pressed": viewer.showGrid.value, title: "Draw the borders of chunks and shards (g)", onClick: () => viewer.showGrid.value = !viewer.showGrid.value, children: "Chunk grid" }),
      /* @__PURE__ */ a4("button", { type: "button", "aria-pressed": viewer.showMissing.value, title: "Hatch chunks that are not stored (m)", onClick: () => viewer.showMissing.value = !viewer.showMissing.value, children: "Missing" }),
      /* @__PURE__ */ a4("button", { type: "button", "aria-pressed": viewer.drawsLine.value, title: "A drag draws a line whose values are shown (l)", onClick: () => viewer.drawsLine.value = !viewer.drawsLine.value, children: "Line" }),
      /* @__PURE__ */ a4("button", { type: "button", onClick: () => viewer.fit(), title: "Show whole planes (0)", children: "Fit" }),
      /* @__PURE__ */ a4("button", { type: "button", "aria-pressed": side.value, title: waiting ? "What was chosen in a picture is shown here" : void 0, onClick: () => {
        side.value = !side.value;
        if (narrow.matches) tree.value = false;
      }, children: [
        "Facts",
        waiting && " •"
      ] }),
      /* @__PURE__ */ a4("button", { type: "button", "aria-expanded": help.value, onClick: () => help.value = !help.value, children: "Keys" })
    ] }),
    viewer.connection.offline.value && /* @__PURE__ */ a4("p", { class: "notice", role: "alert", children: "The server does not answer. The viewer goes on as soon as it is back." }),
    viewer.failure.value && /* @__PURE__ */ a4("p", { class: "notice", role: "alert", children: [
      /* @__PURE__ */ a4("bdi", { children: viewer.failure.value }),
      " ",
      /* @__PURE__ */ a4("button", { type: "button", onClick: () => viewer.failure.value = "", children: "Close" })
    ] }),
    hello?.left_out && /* @__PURE__ */ a4("section", { class: "exported quiet", "aria-label": "This page", children: [
      "A page without a server.",
      " ",
      hello.left_out.length ? /* @__PURE__ */ a4($, { children: [
        "Left out: ",
        /* @__PURE__ */ a4("bdi", { children: hello.left_out.join(", ") }),
        "."
      ] }) : "All arrays are in it."
    ] }),
    tree.value && /* @__PURE__ */ a4("nav", { class: "tree", "aria-label": "Arrays and groups", children: hello && /* @__PURE__ */ a4(Tree, { viewer, onChosen: () => narrow.matches && (tree.value = false) }) }),
    /* @__PURE__ */ a4("main", { class: `panes panes-${panes.length}`, "aria-label": "Panes", children: [
      panes.map((pane) => /* @__PURE__ */ a4(PaneView, { viewer, pane, pictures: pictures.current }, pane.id)),
      hello && !panes.length && /* @__PURE__ */ a4("p", { class: "empty", children: "Choose an array in the tree." })
    ] }),
    side.value && /* @__PURE__ */ a4("aside", { class: "side", "aria-label": "Facts", tabIndex: 0, children: /* @__PURE__ */ a4(Info, { viewer }) }),
    /* @__PURE__ */ a4("footer", { class: "sliders", "aria-label": "Axes that are not shown", children: /* @__PURE__ */ a4(Sliders, { viewer, player }) }),
    /* @__PURE__ */ a4("div", { class: "spoken", "aria-live": "polite", children: viewer.spoken.value }),
    help.value && /* @__PURE__ */ a4(Help, { onClose: () => help.value = false })
  ] });
}

// src/main.tsx
var TOKEN = "zarrix-token";
function takeToken() {
  const { token } = fromFragment(location.hash);
  if (token) {
    sessionStorage.setItem(TOKEN, token);
    const rest = new URLSearchParams(location.hash.slice(1));
    rest.delete("token");
    history.replaceState(null, "", `#${rest}`);
  }
  return sessionStorage.getItem(TOKEN) ?? "";
}
function transportOf() {
  const data = document.getElementById("zarrix-data")?.textContent;
  return data ? new FileTransport(JSON.parse(data)) : new HttpTransport(takeToken());
}
function startPage(root) {
  const transport = transportOf();
  const viewer = new Viewer(new Api(transport));
  Q(/* @__PURE__ */ a4(App, { viewer }), root);
  let subject = "";
  void viewer.start(location.hash).then(() => {
    subject = subjectOf(viewer);
    let timer = 0;
    x2(() => {
      const fragment = toFragment(viewer.toState());
      clearTimeout(timer);
      const shown = subjectOf(viewer);
      if (shown !== subject) {
        subject = shown;
        history.pushState(null, "", `#${fragment}`);
      } else {
        const before = location.hash;
        timer = window.setTimeout(() => {
          if (location.hash === before) history.replaceState(null, "", `#${fragment}`);
        }, 200);
      }
    });
    x2(() => {
      const title = viewer.connection.hello.value?.title ?? "";
      const path = viewer.active.value?.node.path;
      document.title = [path, title, "zarrix view"].filter(Boolean).join(" · ");
    });
  });
  addEventListener("hashchange", () => {
    if (transport instanceof HttpTransport) takeToken();
    if (location.hash.slice(1) === toFragment(viewer.toState())) return;
    subject = fromFragment(location.hash).panes.map(({ path, kind }) => `${path} ${kind ?? ""}`).join("\n");
    void viewer.start(location.hash);
  });
}
function subjectOf(viewer) {
  return viewer.panes.value.map((pane) => `${pane.node.path} ${pane.toState().kind ?? ""}`).join("\n");
}
function render({ model, el }) {
  const transport = new KernelTransport(model);
  const viewer = new Viewer(new Api(transport));
  const root = document.createElement("div");
  root.className = "zarrix-viewer in-notebook";
  el.append(root);
  Q(/* @__PURE__ */ a4(App, { viewer }), root);
  const state = model.get("state");
  const path = model.get("path");
  const first = state?.fragment ?? (path ? `path=${encodeURIComponent(path)}` : "");
  const stops = [];
  void viewer.start(first).then(() => {
    stops.push(
      x2(() => {
        model.set("state", { fragment: toFragment(viewer.toState()) });
        const region = viewer.region.value;
        model.set(
          "selection",
          region && { path: region.pane.node.path, sel: viewer.selectionOf(region.pane, region.box) }
        );
        model.save_changes();
      })
    );
  });
  return () => {
    for (const stop of stops) stop();
    viewer.dispose();
    transport.close();
    Q(null, root);
  };
}
var main_default = { render };
var page = document.getElementById("zarrix-viewer");
if (page) startPage(page);
export {
  main_default as default
};

// What scripts say, in the language of the page. The key of a message is the English
// sentence; the server sends with the page what it is in the page's language.
const T = (() => {
  const page = document.documentElement;
  let words = {};
  try { words = JSON.parse(page.dataset.words || '{}'); } catch { /* English then */ }
  const language = page.lang || 'en';
  const plurals = new Intl.PluralRules(language), numbers = new Intl.NumberFormat(language + '-u-nu-latn');
  return (key, ...values) => {
    let text = words[key] ?? key;
    if (typeof text === 'object') {
      const counted = values.find((value) => typeof value === 'number');
      text = text[plurals.select(counted)] ?? text.other;
    }
    let next = 0;
    return text.replace(/%(?:\[(\d+)\])?([sd%])/g, (verb, at, kind) => {
      if (kind === '%') return '%';
      next = at ? Number(at) : next + 1;
      const value = values[next - 1];
      return kind === 'd' ? numbers.format(value) : value;
    });
  };
})();

//! carom for pages in a browser.

-- The next sweep compares the page record by record. Its cursor stays, so that a shortcut can ask for it.
local function forgetPage(key, page)
  local stored = redis.call('HGET', key, page)
  if stored then redis.call('HSET', key, page, (string.gsub(stored, '"digest":"[^"]*"', '"digest":""', 1))) end
end

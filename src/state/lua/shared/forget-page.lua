-- The next sweep compares the page record by record. Its cursor stays, so that it can still be asked for outside the order of a walk.
local function forgetPage(key, page)
  local stored = redis.call('HGET', key, page)
  if stored then redis.call('HSET', key, page, (string.gsub(stored, '"digest":"[^"]*"', '"digest":""', 1))) end
end

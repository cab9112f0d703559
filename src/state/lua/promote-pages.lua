--[[ promote-pages: makes some pages of a complete sweep those of the last complete sweep: their members, and how to recognise them.
  Atomic because: a page in neither hash would lose its members, and with them their removals. A repetition after a crash finds
  the pages gone from the walk and skips them.
  KEYS 1 lease · 2 members of the walk · 3 its pages · 4 members · 5 pages · 6 unconfirmed
  ARGV 1 token · 2 n · n × page to move · m · m × page to drop (0: the unconfirmed ids)
       further pages: recognised no longer
  RETURN {"committed", 0} · {"fenced", holder or ""}    Cost O(pages named). ]]
--- @include "forget-page"
local holder = redis.call('GET', KEYS[1])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end

local at = 2 + tonumber(ARGV[2])
for i = 3, at do
  for from = 2, 3 do
    local value = redis.call('HGET', KEYS[from], ARGV[i])
    if value then
      redis.call('HSET', KEYS[from + 2], ARGV[i], value)
      redis.call('HDEL', KEYS[from], ARGV[i])
    end
  end
end
local last = at + 1 + tonumber(ARGV[at + 1])
for i = at + 2, last do
  if ARGV[i] == '0' then redis.call('UNLINK', KEYS[6]) end
  redis.call('HDEL', KEYS[4], ARGV[i])
  redis.call('HDEL', KEYS[5], ARGV[i])
end
for i = last + 1, #ARGV do forgetPage(KEYS[5], ARGV[i]) end
return { 'committed', 0 }

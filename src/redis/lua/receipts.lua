-- Appends receipts (a line each) to the open ones. These become one entry of the stream, `<its last number> → receipts`, when
-- they are some 5 kB, which is an allocation of Redis, or `isOver`. The oldest entries go while `most` receipts are behind them.
local function keepReceipts(stream, open, receipts, most, isOver)
  local length = receipts == '' and redis.call('STRLEN', open) or redis.call('APPEND', open, receipts)
  if length == 0 or (length < 4700 and not isOver) then return end
  local chunk, last = redis.call('GET', open), redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
  local _, lines = string.gsub(chunk, '\n', '\n')
  local number = (last and tonumber(last[2][1]) or 0) + lines
  redis.call('XADD', stream, '*', string.format('%d', number), chunk)
  redis.call('DEL', open)
  for _ = 1, 16 do
    local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
    if number - (tonumber(first[2][1]) or 0) < most then return end
    redis.call('XDEL', stream, first[1])
  end
end
